package conntrack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// BenchmarkEstablished is a packet of a known, translated connection, small and large.
func BenchmarkEstablished(b *testing.B) {
	for _, size := range []int{0, 1400} {
		b.Run(fmt.Sprintf("payload=%d", size), func(b *testing.B) {
			table, commit, nat := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080), unNAT(1)
			table.Execute(0, newPacket(seg(toVIP, "S", 1000, 0, 0).frame()), &commit)
			table.Execute(0, newPacket(seg(toMember.back(), "S.", 5000, 1001, 0).frame()), &nat)
			frame := seg(toVIP, ".", 1001, 5001, size).frame()
			p := newPacket(make([]byte, len(frame)))
			p.EtherType = 0x0800
			b.ReportAllocs()
			for b.Loop() {
				copy(p.Frame, frame)
				p.Meta = conntrack.Meta{}
				table.Execute(0, p, &nat)
			}
			require.Equal(b, "est|trk|dnat", p.Meta.State.String())
		})
	}
}

// BenchmarkManyConnections looks up among a hundred thousand.
func BenchmarkManyConnections(b *testing.B) {
	table, request := conntrack.New(conntrack.Config{}), commit(1)
	var packets []*conntrack.Packet
	for i := range 100_000 {
		p := newPacket(udp{flow: flow{addr{10, 1, byte(i >> 8), byte(i)}, server, uint16(1000 + i>>16), 80}}.frame())
		table.Execute(0, p, &request)
		packets = append(packets, p)
	}
	require.Equal(b, len(packets), table.Len())
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p := packets[i%len(packets)]
		p.Meta = conntrack.Meta{}
		table.Execute(0, p, &request)
		i++
	}
}

// BenchmarkNewConnection commits and expires.
func BenchmarkNewConnection(b *testing.B) {
	table, request := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080)
	frame := udp{flow: toVIP, noChecksum: true}.frame()
	p := newPacket(make([]byte, len(frame)))
	p.EtherType = 0x0800
	b.ReportAllocs()
	now, i := time.Duration(0), 0
	for b.Loop() {
		copy(p.Frame, frame)
		put16(p.Frame, 34, uint16(1+i%65535))
		p.Meta = conntrack.Meta{}
		table.Execute(now, p, &request)
		if i++; i%50_000 == 0 {
			now += time.Minute
			table.Expire(now)
		}
	}
}

// TestSteadyStateDoesNotAllocate: packets of known connections cost no garbage.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	table, commit, nat := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080), unNAT(1)
	table.Execute(0, newPacket(udp{flow: toVIP}.frame()), &commit)
	frame := udp{flow: toVIP}.frame()
	p := newPacket(udp{flow: toVIP}.frame())
	invalid := newPacket(mended(udpUp(1), 24, 0, 7))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		copy(p.Frame, frame)
		p.Meta, invalid.Meta = conntrack.Meta{}, conntrack.Meta{}
		table.Execute(0, p, &nat)
		table.Execute(0, invalid, &nat)
	}))
}
