package openflow

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// fieldValue reads the value, perhaps masked, of a field as a match or set_field writes it.
func (o *options) fieldValue(n fieldName, t text) (v, mask Value, err error) {
	f := n.field
	if u, ok := t.plain(f.info().style); ok && !n.tos && bits.Len64(u) <= f.Width() {
		return U64(u), f.Mask(), nil
	}
	switch f.info().style {
	case styleTCPFlags:
		v, mask, err = t.flags(tcpFlagNames, f.Width())
	case styleCTState:
		v, mask, err = t.flags(ctStateNames, f.Width())
	case styleFrag:
		return t.frag()
	case styleMAC:
		v, mask, err = t.masked(text.mac, text.mac, f.Mask())
	case styleIPv4:
		v, mask, err = t.masked(text.ipv4, prefixOf(32, text.ipv4), f.Mask())
	case styleIPv6:
		v, mask, err = t.masked(text.ipv6, prefixOf(128, text.ipv6), f.Mask())
	case stylePort:
		v, mask, err = t.masked(o.portValue, integerOf(16), f.Mask())
	default:
		return o.number(n, t)
	}
	return v, mask, t.checkMasked(f, v, mask, err)
}

// plain reads a value without a mask, written as most are. What it does not know needs a closer look.
func (t text) plain(s style) (v uint64, ok bool) {
	switch s {
	case styleDecimal, styleHex:
		return parsePlain(t.s)
	case styleMAC:
		return parseMAC(t.s)
	case styleIPv4:
		return parseIPv4(t.s)
	}
	return 0, false
}

// prefixOf reads the mask of an address.
func prefixOf(width int, addr func(text) (Value, error)) func(text) (Value, error) {
	return func(t text) (Value, error) { return t.prefix(width, addr) }
}

func (o *options) portValue(t text) (Value, error) {
	p, err := o.port(t)
	return U64(uint64(p)), err
}

// number reads a plain number. The TOS byte loses the two low bits, which must be zero.
func (o *options) number(n fieldName, t text) (v, mask Value, err error) {
	f := n.field
	if n.tos {
		return t.tos()
	}
	v, mask, err = t.masked(integerOf(f.Width()), integerOf(f.Width()), f.Mask())
	return v, mask, t.checkMasked(f, v, mask, err)
}

// tos reads a TOS byte, of which DSCP is the upper six bits.
func (t text) tos() (v, mask Value, err error) {
	v, mask, err = t.masked(integerOf(8), integerOf(8), U64(0xfc))
	if err == nil && v.Or(mask).Lo&3 != 0 {
		err = t.faultf("write "+strconv.FormatUint(v.Lo&^3, 10), "the two low bits of nw_tos are not its own")
	}
	v, mask = v.Shr(2), mask.Shr(2)
	return v, mask, t.checkMasked(IPDSCP, v, mask, err)
}

// checkMasked refuses value bits outside the mask, which ovs-ofctl would clear.
func (t text) checkMasked(f Field, v, mask Value, err error) error {
	if err != nil || v.AndNot(mask) == (Value{}) {
		return err
	}
	clean := Term{f, v.And(mask), mask}
	return t.fault("value has bits outside its mask", "write "+string(clean.appendValue(nil)))
}

// port reads a port: its number, a reserved name in any case, or a name given by WithPorts.
func (o *options) port(t text) (PortNo, error) {
	if name, quoted := t.unquote(); quoted {
		return o.namedPort(t, name)
	}
	if t.s != "" && t.s[0] >= '0' && t.s[0] <= '9' {
		if p, ok := o.ports[t.s]; ok {
			return p, nil
		}
		n, err := t.decimal("port number", 16)
		if err != nil {
			return 0, err
		}
		return PortNo(n), t.checkPortNumber(PortNo(n))
	}
	for _, n := range portNames {
		if strings.EqualFold(n.name, t.s) {
			return n.port, nil
		}
	}
	return o.namedPort(t, t.s)
}

func (t text) unquote() (string, bool) {
	if len(t.s) >= 2 && t.s[0] == '"' && t.s[len(t.s)-1] == '"' {
		return t.s[1 : len(t.s)-1], true
	}
	return t.s, false
}

func (o *options) namedPort(t text, name string) (PortNo, error) {
	if p, ok := o.ports[name]; ok {
		return p, nil
	}
	if o.ports == nil {
		return 0, t.fault("unknown port name, and no names were given", "write the port's number")
	}
	return 0, t.fault("unknown port name", "write its number, or name the port")
}

// checkPortNumber refuses the numbers of reserved ports, which differ between OpenFlow versions.
func (t text) checkPortNumber(p PortNo) error {
	switch {
	case p < PortMax:
		return nil
	case p.reserved() != "":
		return t.fault("number of a reserved port", "write "+p.reserved())
	}
	return t.fault("reserved port number", "write the number of a port below 65280")
}

// subfield reads "FIELD[]", "FIELD[3]", "FIELD[0..15]" or "FIELD", all of it.
func (t text) subfield() (Subfield, error) {
	name, bits, bracket := t.cut("[")
	n, err := name.actionField()
	if err != nil {
		return Subfield{}, err
	}
	if !bracket {
		bits = text{"]", bits.at}
	}
	return t.subfieldOf(n, bits)
}

// subfieldOf reads the bits of field n that stand between the brackets of t.
func (t text) subfieldOf(n fieldName, bits text) (Subfield, error) {
	width := n.field.Width()
	if n.tos {
		width = 8
	}
	first, last, err := bits.bitRange(t, n.field, width)
	if err != nil {
		return Subfield{}, err
	}
	if n.tos {
		if first < 2 {
			return Subfield{}, t.fault("the two low bits of the TOS byte are not DSCP", "write OXM_OF_IP_DSCP[]")
		}
		first, last = first-2, last-2
	}
	return Subfield{n.field, uint8(first), uint8(last - first + 1)}, nil
}

// bitRange reads what stands between the brackets, and the closing one.
func (t text) bitRange(whole text, f Field, width int) (first, last int, err error) {
	inner, ok := strings.CutSuffix(t.s, "]")
	if !ok {
		return 0, 0, whole.fault("bracket is not closed", `add "]"`)
	}
	t = t.to(len(inner))
	if t.s == "" {
		return 0, width - 1, nil
	}
	from, to, isRange := t.cut("..")
	a, err := from.decimal("bit number", 8)
	if err != nil {
		return 0, 0, err
	}
	b := a
	if isRange {
		if b, err = to.decimal("bit number", 8); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case b < a:
		return 0, 0, t.fault("range of bits is upside down", fmt.Sprintf("write %d..%d", b, a))
	case int(b) >= width:
		return 0, 0, t.faultf(fmt.Sprintf("the last is %d", width-1), "%v has only %d bits", f, width)
	}
	return int(a), int(b), nil
}

// actionField finds the field that an action calls by this name. A name that OpenFlow 1.0
// shares between protocols means its first owner, as for ovs-ofctl.
func (t text) actionField() (fieldName, error) {
	switch t.s {
	case "dl_vlan":
		return fieldName{}, t.fault("dl_vlan is for matches only", "write vlan_vid, or mod_vlan_vid:VID")
	case "dl_vlan_pcp":
		return fieldName{}, t.fault("dl_vlan_pcp is for matches only", "write vlan_pcp")
	}
	names := fieldsNamed(t.s)
	if names == nil {
		return fieldName{}, unknownField(t)
	}
	return names[0], nil
}
