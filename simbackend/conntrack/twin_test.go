package conntrack

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// TestExtractAgainstStepByStep: read in large words, a packet has the key that it has read header by header.
func TestExtractAgainstStepByStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	keys := 0
	for range 100_000 {
		p := somePacket(rng)
		var got, want lookup
		ok := want.slowExtract(p, 3)
		require.Equal(t, ok, got.extract(p, 3), "%x", p.Frame)
		if !ok {
			continue
		}
		keys++
		require.Equal(t, want, got, "%x", p.Frame)
	}
	require.Greater(t, keys, 20_000)
}

// TestTranslateTCPAgainstStepByStep: all at once, the translation of a segment comes to the same.
func TestTranslateTCPAgainstStepByStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		p := somePacket(rng)
		v, ok := p.view()
		if !ok || v.proto() != protoTCP || len(v.payload()) < tcpHeader {
			continue
		}
		k := key{src: newEndpoint(corner(rng), v.port(rng, 2)), dst: newEndpoint(corner(rng), v.port(rng, 0)), proto: protoTCP}
		nat := []State{StateSNAT, StateDNAT}[rng.IntN(2)]
		before := bytes.Clone(p.Frame)
		v.translateTCP(nat, &k)
		got := bytes.Clone(p.Frame)
		copy(p.Frame, before)
		v.setAddress(nat, &k)
		v.setPorts(&k)
		require.Equal(t, p.Frame, got, "%x", before)
	}
}

// corner is an address, often one of which sums have their doubts.
func corner(rng *rand.Rand) uint32 {
	return []uint32{0, 0xffffffff, 0xffff, 0xffff0000, rng.Uint32(), rng.Uint32()}[rng.IntN(6)]
}

// port is that at an offset of the packet, or another.
func (v *view) port(rng *rand.Rand, at int) uint16 {
	return []uint16{packet.Word(v.payload(), at), 0, 0xffff, uint16(rng.Uint32())}[rng.IntN(4)]
}

// somePacket is one of any protocol, mostly sound.
func somePacket(rng *rand.Rand) *Packet {
	options := rng.IntN(3) / 2 * 4 * rng.IntN(11)
	proto := []uint8{protoTCP, protoTCP, protoTCP, protoUDP, protoICMP, 47}[rng.IntN(6)]
	f := make([]byte, 14+ipHeader+options+rng.IntN(90)+rng.IntN(2)*20)
	for i := range f {
		f[i] = []byte{0, 0xff, byte(rng.Uint32()), byte(rng.Uint32())}[rng.IntN(4)]
	}
	ip := f[14:]
	l4 := ip[ipHeader+options:]
	ip[0] = 0x40 | byte(5+options/4)
	put16(ip, 2, uint16(len(ip)))
	put16(ip, 6, 0x4000)
	ip[9] = proto
	v := view{frame: f, l3: 14, l4: 14 + ipHeader + options, end: len(f)}
	sum := func(at int) {
		src, dst := v.addrs()
		put16(l4, at, 0)
		put16(l4, at, packet.Fold(packet.Sum(l4, packet.PseudoSum(src, dst, proto, len(l4)))))
	}
	switch {
	case proto == protoTCP && len(l4) >= tcpHeader:
		l4[12] = byte(rng.IntN(5+len(l4[tcpHeader:])/4+rng.IntN(2))) << 4
		if rng.IntN(8) != 0 {
			l4[12] = max(l4[12], 0x50)
		}
		sum(16)
	case proto == protoUDP && len(l4) >= udpHeader:
		put16(l4, 4, uint16(len(l4)-rng.IntN(2)*rng.IntN(10)))
		if rng.IntN(4) != 0 {
			sum(6)
		}
	case proto == protoICMP && len(l4) >= icmpLen:
		l4[0], l4[1] = []byte{8, 0, 3, 11, 13, 17}[rng.IntN(6)], 0
		if inner := l4[icmpLen:]; len(inner) >= ipHeader {
			inner[0], inner[9] = 0x45, []byte{protoTCP, protoUDP, protoICMP}[rng.IntN(3)]
			put16(inner, 6, 0)
			copy(inner[12:16], ip[16:])
		}
		put16(l4, 2, 0)
		put16(l4, 2, packet.Checksum(l4))
	}
	put16(ip, 10, 0)
	put16(ip, 10, packet.Checksum(ip[:ipHeader+options]))
	if rng.IntN(5) == 0 {
		f[14+rng.IntN(len(ip))] ^= byte(1 << rng.IntN(8))
	}
	return &Packet{Frame: f, L3: 14, EtherType: etherIPv4}
}

// slowExtract reads the key of p. A packet without one is invalid: it has a bad checksum, a
// header that does not fit, a zero port, or an ICMP message that is neither a query
// nor an error about something.
func (l *lookup) slowExtract(p *Packet, zone uint16) bool {
	v, ok := p.view()
	if !ok || packet.Word(v.frame, v.l3+6)&0x3fff != 0 || packet.Checksum(v.header()) != 0 {
		return false
	}
	l.view = v
	l.key = key{
		src:   newEndpoint(v.addr(12), 0),
		dst:   newEndpoint(v.addr(16), 0),
		zone:  zone,
		proto: v.proto(),
	}
	if !l.validPayload() || !l.extractL4() {
		return false
	}
	if l.key.proto == protoTCP && !l.related {
		l.segment = parseSegment(l.payload())
	}
	return true
}

// validPayload checks lengths and checksums of the transport header.
func (l *lookup) validPayload() bool {
	b := l.payload()
	switch l.key.proto {
	case protoTCP:
		return tcpFits(b) && l.checksumGood()
	case protoUDP:
		if len(b) < udpHeader {
			return false
		}
		length := int(packet.Word(b, 4))
		if length < udpHeader || length > len(b) {
			return false
		}
		return packet.Word(b, 6) == 0 || l.checksumGood()
	case protoICMP:
		return packet.Checksum(b) == 0
	}
	return true
}

func tcpFits(b []byte) bool {
	if len(b) < tcpHeader {
		return false
	}
	header := int(b[12]>>4) * 4
	return header >= tcpHeader && header <= len(b)
}

func (l *lookup) checksumGood() bool {
	b := l.payload()
	a := l.key.src.addr()
	c := l.key.dst.addr()
	pseudo := a>>16 + a&0xffff + c>>16 + c&0xffff + uint32(l.key.proto) + uint32(len(b))
	return packet.Fold(packet.Sum(b, pseudo)) == 0
}

// extractL4 completes the key from the transport header, or replaces it by that of the
// packet inside an ICMP error.
func (l *lookup) extractL4() bool {
	b := l.payload()
	if l.key.proto != protoICMP {
		return l.key.setL4(b)
	}
	if len(b) < icmpLen {
		return false
	}
	if isICMPError(b[0]) {
		return l.extractInner(b[icmpLen:])
	}
	return l.key.setL4(b)
}

// parseSegment reads a segment known to have a sound header.
func parseSegment(b []byte) segment {
	header := int(b[12]>>4) * 4
	return segment{
		seq:     word32(b, 4),
		ack:     word32(b, 8),
		length:  uint32(len(b) - header),
		window:  packet.Word(b, 14),
		flags:   b[13],
		options: b[tcpHeader:header],
	}
}
