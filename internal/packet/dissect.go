package packet

// layer is a header, or the bytes after the last header known.
type layer struct {
	*kind
	at, end int  // its bytes: frame[at:end]
	limit   int  // where its payload ends, as the headers say; beyond the frame if that is cut
	inner   bool // it belongs to the packet inside an ICMP error
}

// label is the layer's name, told apart inside ICMP errors.
func (l layer) label() string {
	if l.inner {
		return "inner." + l.name
	}
	return l.name
}

// dissector splits a frame into layers:
//
//	eth | vlan… | arp                                      | trailer
//	            | ip                     | tcp, udp        | payload | trailer
//	            | ip6 | ext, routing, frag… | icmp, icmp6  | inner.ip, inner.tcp …
//	            | payload
//
// It accepts any bytes: what does not hold as a header is payload. The layers cover the
// frame without gap or overlap. A header holds where a switch would take it for one: its
// length fields agree with each other and it is there as a whole. That the packet behind
// it is cut is no fault; then the layer's limit lies beyond the frame.
type dissector struct {
	frame  []byte
	bound  int // end of the bytes at hand: of the frame, or of the ICMP error being read
	inner  bool
	layers []layer
}

// dissect gives the layers of a frame.
func dissect(frame []byte) []layer {
	d := dissector{frame: frame, bound: len(frame)}
	if !d.has(0, 14, len(frame)) {
		d.rest(payloadKind, 0, len(frame))
		return d.layers
	}
	d.add(ethKind, 0, 14, len(frame))
	d.tagged(Word(frame, 12), 14)
	return d.layers
}

// add appends a layer and gives its end.
func (d *dissector) add(k *kind, at, size, limit int) int {
	d.layers = append(d.layers, layer{k, at, at + size, limit, d.inner})
	return at + size
}

// rest appends the bytes up to end, if there are any.
func (d *dissector) rest(k *kind, at, end int) {
	if end = min(end, d.bound); at < end {
		d.add(k, at, end-at, end)
	}
}

// has reports whether n bytes at the offset lie before limit and are at hand.
func (d *dissector) has(at, n, limit int) bool { return at+n <= min(limit, d.bound) }

// tagged reads VLAN tags and then what the EtherType says.
func (d *dissector) tagged(etherType uint16, at int) {
	for (etherType == TypeVLAN || etherType == TypeQinQ) && d.has(at, 4, d.bound) {
		etherType = Word(d.frame, at+2)
		at = d.add(vlanKind, at, 4, d.bound)
	}
	switch etherType {
	case TypeIPv4:
		d.ip4(at)
	case TypeIPv6:
		d.ip6(at)
	case TypeARP:
		d.arp(at)
	default:
		d.rest(payloadKind, at, d.bound)
	}
}

// arp reads ARP for IPv4 over Ethernet; ARP between other address families is payload.
func (d *dissector) arp(at int) {
	if !d.has(at, 28, d.bound) || string(d.frame[at:at+6]) != "\x00\x01\x08\x00\x06\x04" {
		d.rest(payloadKind, at, d.bound)
		return
	}
	d.rest(trailerKind, d.add(arpKind, at, 28, at+28), d.bound)
}

// ip4 reads an IPv4 packet. The ports of a first fragment are read, later fragments have
// only payload. A total length of 0, as captures with segmentation offload have it, does
// not hold: it is shorter than the header.
func (d *dissector) ip4(at int) {
	if !d.has(at, 20, d.bound) || d.frame[at]>>4 != 4 {
		d.rest(payloadKind, at, d.bound)
		return
	}
	size, total := int(d.frame[at]&15)*4, int(Word(d.frame, at+2))
	if size < 20 || total < size || !d.has(at, size, d.bound) {
		d.rest(payloadKind, at, d.bound)
		return
	}
	limit := at + total
	next := d.add(ip4Kind, at, size, limit)
	if Word(d.frame, at+6)&0x1fff != 0 {
		d.rest(payloadKind, next, limit)
	} else {
		d.transport(d.frame[at+9], next, limit)
	}
	d.rest(trailerKind, limit, d.bound)
}

// ip6 reads an IPv6 packet.
func (d *dissector) ip6(at int) {
	if !d.has(at, 40, d.bound) || d.frame[at]>>4 != 6 {
		d.rest(payloadKind, at, d.bound)
		return
	}
	limit := at + 40 + int(Word(d.frame, at+4))
	d.extensions(d.frame[at+6], d.add(ip6Kind, at, 40, limit), limit)
	d.rest(trailerKind, limit, d.bound)
}

// extensions reads the extension headers of IPv6 and then the transport (RFC 8200 4).
// Each says what follows it and, in its own unit, how long it is.
func (d *dissector) extensions(proto uint8, at, limit int) {
	for d.has(at, 8, limit) {
		k, size := extKind, (int(d.frame[at+1])+1)*8
		switch proto {
		case 0, 60: // hop-by-hop and destination options
		case 43:
			k = routingKind
		case 44:
			k, size = fragKind, 8
		case 51: // authentication header
			size = (int(d.frame[at+1]) + 2) * 4
		default:
			d.transport(proto, at, limit)
			return
		}
		if !d.has(at, size, limit) {
			break
		}
		later := k == fragKind && Word(d.frame, at+2)>>3 != 0
		proto = d.frame[at]
		if at = d.add(k, at, size, limit); later {
			break
		}
	}
	d.rest(payloadKind, at, limit)
}

// transport reads a transport header and its payload. The header of another protocol, or
// one that does not hold, is payload.
func (d *dissector) transport(proto uint8, at, limit int) {
	switch {
	case proto == ProtoTCP && d.has(at, 20, limit):
		if size := int(d.frame[at+12]>>4) * 4; size >= 20 && d.has(at, size, limit) {
			at = d.add(tcpKind, at, size, limit)
		}
	case proto == ProtoTCP && d.inner && d.has(at, 8, limit):
		at = d.add(tcpKind, at, 8, limit) // as much as an ICMP error has to quote
	case proto == ProtoUDP && d.has(at, 8, limit):
		at = d.add(udpKind, at, 8, limit)
	case proto == ProtoICMP && d.has(at, 8, limit):
		d.icmp(icmpKind, at, limit)
		return
	case proto == ProtoICMPv6 && d.has(at, 8, limit):
		d.icmp(icmp6Kind, at, limit)
		return
	}
	d.rest(payloadKind, at, limit)
}

// icmp reads an ICMP message, and the packet inside an error.
func (d *dissector) icmp(k *kind, at, limit int) {
	code := d.frame[at]
	next := d.add(k, at, 8, limit)
	if d.inner || !isError(k, code) {
		d.rest(payloadKind, next, limit)
		return
	}
	outer := d.bound
	d.inner, d.bound = true, min(limit, d.bound)
	if k == icmpKind {
		d.ip4(next)
	} else {
		d.ip6(next)
	}
	d.inner, d.bound = false, outer
}

// isError reports whether an ICMP message of the type quotes a packet.
func isError(k *kind, icmpType uint8) bool {
	if k == icmp6Kind {
		return icmpType >= 1 && icmpType <= 4
	}
	switch icmpType {
	case Unreachable, 4, 5, TimeExceeded, 12:
		return true
	}
	return false
}
