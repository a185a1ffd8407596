package openflow

import "strings"

// natReader reads the arguments of nat.
type natReader struct {
	nat  NAT
	seen keys
}

func (r *natReader) item(it item) error {
	if err := r.seen.again(it); err != nil {
		return err
	}
	switch it.key.s {
	case "src":
		return r.end(it, NATSrc)
	case "dst":
		return r.end(it, NATDst)
	case "persistent":
		r.nat.Persistent = true
	case "hash":
		r.nat.Hash = true
	case "random":
		r.nat.Random = true
	default:
		return it.all.fault("nat has no such argument", "one of src= dst= persistent hash random")
	}
	return it.flag()
}

// end reads "src", "src=A", "src=A-B:P-Q" and the like.
func (r *natReader) end(it item, k NATKind) error {
	if r.nat.Kind != NATExisting {
		return it.all.fault("src and dst exclude each other", "keep one")
	}
	r.nat.Kind = k
	if it.delim == 0 {
		return nil
	}
	value, err := it.assigned()
	if err != nil {
		return err
	}
	addrs, ports, err := value.splitPorts()
	if err != nil {
		return err
	}
	if err := r.addrs(addrs); err != nil || ports.s == "" {
		return err
	}
	return r.ports(ports)
}

// splitPorts takes the ports off a range of addresses. IPv6 addresses that are followed by
// ports are in brackets.
func (t text) splitPorts() (addrs, ports text, err error) {
	if i := strings.LastIndexByte(t.s, ']'); i >= 0 {
		if i+1 == len(t.s) {
			return t, ports, nil
		}
		if t.s[i+1] != ':' || i+2 == len(t.s) {
			return t, ports, t.from(i+1).fault("not a port", "write [ADDRESS]:PORT")
		}
		return t.to(i + 1), t.from(i + 2), nil
	}
	addrs, ports, found := t.cut(":")
	switch {
	case !found:
		return t, ports, nil
	case strings.Contains(ports.s, ":") || strings.HasPrefix(ports.s, "-"):
		return t, text{}, nil // an IPv6 address without ports
	case addrs.s == "":
		return t, ports, t.fault("OVS drops ports of a nat without an address", "add the address")
	case ports.s == "":
		return t, ports, t.fault("port is missing", "write ADDRESS:PORT")
	}
	return addrs, ports, nil
}

func (r *natReader) addrs(t text) error {
	first, last, isRange := t.cut("-")
	a, v6, err := first.natAddr()
	if err != nil {
		return err
	}
	b := a
	if isRange {
		var other bool
		if b, other, err = last.natAddr(); err != nil {
			return err
		}
		if other != v6 {
			return t.fault("addresses are of two families", "")
		}
	}
	switch {
	case a.IsZero() && b.IsZero():
		return nil // nat(src=0.0.0.0) is nat(src)
	case a.IsZero():
		return t.fault("a range of addresses cannot start at zero", "")
	case a.Cmp(b) > 0:
		return t.fault("range of addresses is upside down", "swap them")
	}
	r.nat.Addr, r.nat.IPv6 = [2]Value{a, b}, v6
	return nil
}

func (t text) natAddr() (v Value, v6 bool, err error) {
	if inner, ok := strings.CutPrefix(t.s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return v, false, t.fault("bracket is not closed", `add "]"`)
		}
		v, err = t.slice(1, 1+len(inner)).ipv6()
		return v, true, err
	}
	if strings.Contains(t.s, ":") {
		v, err = t.ipv6()
		return v, true, err
	}
	v, err = t.ipv4()
	return v, false, err
}

func (r *natReader) ports(t text) error {
	if !r.nat.hasAddr() {
		return t.fault("OVS refuses ports with an address of zero", "add the address")
	}
	first, last, isRange := t.cut("-")
	if err := readDecimal16(first, "port", &r.nat.Port[0]); err != nil {
		return err
	}
	r.nat.Port[1] = r.nat.Port[0]
	if isRange {
		if err := readDecimal16(last, "port", &r.nat.Port[1]); err != nil {
			return err
		}
	}
	switch {
	case r.nat.Port[0] == 0:
		return t.fault("OVS takes port 0 for no port", "write a port from 1 to 65535, or none")
	case r.nat.Port[0] > r.nat.Port[1]:
		return t.fault("range of ports is upside down", "swap them")
	}
	return nil
}
