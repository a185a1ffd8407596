package packet_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

// twin is the same decoding by gopacket, down to the first transport header.
type twin struct {
	src, dst  netip.Addr
	ttl       uint8
	length    int // of the IP packet without its header, as the header tells it
	transport gopacket.Layer
}

// decode gives the twin's view of a frame; ok is false where gopacket finds no transport
// header directly behind Ethernet, tags and one IP header.
func decode(frame []byte) (v twin, ok bool) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	for _, l := range p.Layers() {
		switch h := l.(type) {
		case *layers.Ethernet, *layers.Dot1Q:
		case *layers.IPv4:
			if v.src.IsValid() || h.Version != 4 {
				return v, false
			}
			v.src, _ = netip.AddrFromSlice(h.SrcIP)
			v.dst, _ = netip.AddrFromSlice(h.DstIP)
			v.ttl, v.length = h.TTL, int(h.Length)-int(h.IHL)*4
			if packet.Word(h.Contents, 2) == 0 {
				return v, false // of a capture with segmentation offload; a switch takes it as malformed
			}
		case *layers.IPv6:
			if v.src.IsValid() || h.Version != 6 {
				return v, false
			}
			v.src, _ = netip.AddrFromSlice(h.SrcIP)
			v.dst, _ = netip.AddrFromSlice(h.DstIP)
			v.ttl, v.length = h.HopLimit, int(h.Length)
		case *layers.TCP, *layers.UDP:
			v.transport = l
			return v, v.src.IsValid()
		default:
			return v, false
		}
	}
	return v, false
}

// text is what Summary must begin with.
func (v twin) text() string {
	switch h := v.transport.(type) {
	case *layers.TCP:
		return fmt.Sprintf("TCP %s > %s [", netip.AddrPortFrom(v.src, uint16(h.SrcPort)), netip.AddrPortFrom(v.dst, uint16(h.DstPort)))
	case *layers.UDP:
		return fmt.Sprintf("UDP %s > %s len ", netip.AddrPortFrom(v.src, uint16(h.SrcPort)), netip.AddrPortFrom(v.dst, uint16(h.DstPort)))
	}
	return ""
}

// right reports whether the transport checksum is right, added up in one go; ok is false
// where it cannot be told.
func (v twin) right() (right, ok bool) {
	b := slices.Concat(v.transport.LayerContents(), v.transport.LayerPayload())
	proto, size := uint64(packet.ProtoTCP), v.length
	if udp, is := v.transport.(*layers.UDP); is {
		proto, size = packet.ProtoUDP, int(udp.Length)
		if udp.Checksum == 0 {
			return v.src.Is4(), true
		}
	}
	sum := proto + uint64(len(b))
	for _, part := range [][]byte{v.src.AsSlice(), v.dst.AsSlice(), append(b, 0)} {
		for i := 0; i+1 < len(part); i += 2 {
			sum += uint64(part[i])<<8 + uint64(part[i+1])
		}
	}
	return sum%0xffff == 0, len(b) == size && size <= v.length
}

// Both know the same ends, and come to the same verdict about the checksum.
func TestAgainstGopacketOnCaptures(t *testing.T) {
	ends, sums, wrong := 0, 0, 0
	eachFrame(t, "public/*.pcap", func(place string, frame []byte) {
		v, ok := decode(frame)
		if !ok {
			return
		}
		ends++
		line := packet.Summary(frame)
		for strings.HasPrefix(line, "vlan ") {
			line = strings.SplitN(line, " ", 3)[2]
		}
		require.True(t, strings.HasPrefix(line, v.text()), "%s: %s, but gopacket sees %s", place, line, v.text())
		require.Contains(t, line, fmt.Sprintf(" ttl %d", v.ttl), place)
		if right, ok := v.right(); ok && !strings.Contains(line, "frag ") {
			sums++
			err := packet.Verify(frame)
			said := err != nil && (strings.Contains(err.Error(), "tcp checksum") || strings.Contains(err.Error(), "udp checksum"))
			require.Equal(t, !right, said, "%s: %s: %v", place, line, err)
			if said {
				wrong++
			}
		}
	})
	t.Logf("%d frames decoded alike, %d checksums judged alike, %d of them wrong", ends, sums, wrong)
	require.Greater(t, ends, 1000)
}
