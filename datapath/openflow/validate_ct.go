package openflow

import "fmt"

func (c *checker) checkCT(a CT) error {
	switch {
	case !c.match.isIP():
		return invalid(a, "needs ip or ipv6", "add ip or ipv6 to the match")
	case a.Force && !a.Commit:
		return invalid(a, "force needs commit", "add commit")
	case len(a.Exec) > 0 && !a.Commit:
		return invalid(a, "exec needs commit", "add commit")
	case a.Recirc && a.Table == CurrentTable:
		return invalid(a, "no such table", "0 to 254")
	case a.Commit && c.match.Get(CTState).Value.Lo&uint64(CTInv) != 0:
		return invalid(a, "an invalid packet cannot be committed", "match ct_state=-inv")
	case a.Zone != 0 && a.ZoneSrc != Subfield{}:
		return invalid(a, "zone is given twice", "keep one")
	}
	if err := c.checkALG(a); err != nil {
		return err
	}
	if a.ZoneSrc != (Subfield{}) {
		if a.ZoneSrc.Width != 16 {
			return invalid(a, fmt.Sprintf("zone is 16 bits wide, %v is %d", a.ZoneSrc, a.ZoneSrc.Width), "write NXM_NX_REG0[0..15]")
		}
		if err := c.checkSource(a, a.ZoneSrc); err != nil {
			return err
		}
	}
	if a.NAT != nil {
		if err := c.checkNAT(a, *a.NAT); err != nil {
			return err
		}
	}
	return c.checkNested(a, a.Exec, inCT)
}

func (c *checker) checkALG(a CT) error {
	switch {
	case a.ALG == ALGNone,
		a.ALG == ALGFTP && c.match.isExactly(IPProto, ProtoTCP),
		a.ALG == ALGTFTP && c.match.isExactly(IPProto, ProtoUDP):
		return nil
	case a.ALG == ALGFTP:
		return invalid(a, "alg=ftp needs tcp", "add tcp or tcp6 to the match")
	case a.ALG == ALGTFTP:
		return invalid(a, "alg=tftp needs udp", "add udp or udp6 to the match")
	}
	return invalid(a, "unknown application helper", "write alg=ftp or alg=tftp")
}

func (c *checker) checkNAT(a CT, n NAT) error {
	if n.Kind == NATExisting {
		if n != (NAT{}) {
			return invalid(a, "nat without src or dst takes no arguments", "add src= or dst=")
		}
		return nil
	}
	width, ethType := 32, uint64(EthTypeIPv4)
	if n.IPv6 {
		width, ethType = 128, EthTypeIPv6
	}
	switch {
	case n.Kind > NATDst:
		return invalid(a, "unknown kind of translation", "")
	case !a.Commit:
		return invalid(a, "nat with arguments needs commit", "add commit")
	case n.Hash && n.Random:
		return invalid(a, "hash and random exclude each other", "keep one")
	case !n.hasAddr() && n != NAT{Kind: n.Kind}:
		return invalid(a, "OVS drops ports and options of a nat without an address", "add the address")
	case n.hasAddr() && !c.match.isExactly(EthType, ethType):
		return invalid(a, "address is of another family than the match", "use an address of the match's family")
	case n.Addr[0].BitLen() > width || n.Addr[1].BitLen() > width:
		return invalid(a, fmt.Sprintf("address is wider than %d bits", width), "")
	case n.hasAddr() && n.Addr[0].IsZero():
		return invalid(a, "a range of addresses cannot start at zero", "")
	case n.Addr[0].Cmp(n.Addr[1]) > 0:
		return invalid(a, "range of addresses is upside down", "swap them")
	case n.Port[0] > n.Port[1] || n.Port[0] == 0 && n.Port[1] != 0:
		return invalid(a, "range of ports is empty", "write FIRST-LAST, FIRST at least 1")
	}
	return nil
}
