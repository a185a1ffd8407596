package openflow

func (a CT) append(b []byte) []byte {
	b = append(b, "ct("...)
	start := len(b)
	if a.Commit {
		b = append(b, "commit"...)
	}
	if a.Force {
		b = append(comma(b, start), "force"...)
	}
	if a.Recirc {
		b = appendUint(comma(b, start), "table=", a.Table)
	}
	switch {
	case a.ZoneSrc != (Subfield{}):
		b = a.ZoneSrc.append(append(comma(b, start), "zone="...))
	case a.Zone != 0:
		b = appendUint(comma(b, start), "zone=", a.Zone)
	}
	if a.NAT != nil {
		b = a.NAT.append(comma(b, start))
	}
	if a.ALG != ALGNone {
		b = append(append(comma(b, start), "alg="...), a.ALG.String()...)
	}
	if len(a.Exec) > 0 {
		b = append(appendActionList(append(comma(b, start), "exec("...), a.Exec), ')')
	}
	return append(b, ')')
}

// String is the helper's name, "ftp" or "tftp".
func (g ALG) String() string {
	switch g {
	case ALGFTP:
		return "ftp"
	case ALGTFTP:
		return "tftp"
	}
	return string(appendUint(nil, "", g))
}

// String is the translation as ct shows it, such as "nat(dst=10.0.0.1:80)".
func (n NAT) String() string { return string(n.append(nil)) }

func (n NAT) append(b []byte) []byte {
	b = append(b, "nat"...)
	switch n.Kind {
	case NATExisting:
		return b
	case NATSrc:
		b = append(b, "(src"...)
	default:
		b = append(b, "(dst"...)
	}
	if n.hasAddr() || n.Port != [2]uint16{} {
		b = n.appendRange(append(b, '='))
	}
	for _, option := range []struct {
		set  bool
		word string
	}{{n.Persistent, ",persistent"}, {n.Hash, ",hash"}, {n.Random, ",random"}} {
		if option.set {
			b = append(b, option.word...)
		}
	}
	return append(b, ')')
}

// hasAddr reports whether the translation names an address.
func (n NAT) hasAddr() bool { return n.Addr != [2]Value{} }

func (n NAT) appendRange(b []byte) []byte {
	ports := n.Port != [2]uint16{}
	if n.hasAddr() {
		b = n.appendAddr(b, n.Addr[0], ports)
		if n.Addr[1] != n.Addr[0] {
			b = n.appendAddr(append(b, '-'), n.Addr[1], ports)
		}
	}
	if ports {
		b = appendUint(b, ":", n.Port[0])
		if n.Port[1] != n.Port[0] {
			b = appendUint(b, "-", n.Port[1])
		}
	}
	return b
}

func (n NAT) appendAddr(b []byte, a Value, ports bool) []byte {
	switch {
	case !n.IPv6:
		return appendIPv4(b, a)
	case ports:
		return append(appendIPv6(append(b, '['), a), ']')
	}
	return appendIPv6(b, a)
}
