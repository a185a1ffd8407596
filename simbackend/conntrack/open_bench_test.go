package conntrack_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// callers are clients that open connections to the VIP, one after the other, each from port after port or, if they are
// scattered, all mixed up.
type callers struct {
	frame []byte
	p     *conntrack.Packet
}

func newCallers() *callers {
	frame := seg(toVIP, "S", 1000, 0, 0).frame()
	return &callers{frame, newPacket(bytes.Clone(frame))}
}

// call is the SYN number n.
func (c *callers) call(n int) *conntrack.Packet {
	copy(c.p.Frame, c.frame)
	b := c.p.Frame
	change := func(at int, v uint16, sums ...int) {
		for _, sum := range sums {
			put16(b, sum, packet.Update16(packet.Word(b, sum), packet.Word(b, at), v))
		}
		binary.BigEndian.PutUint16(b[at:], v)
	}
	change(28, uint16(n/60_000%1000), 24, 50)
	change(34, uint16(1024+n%60_000), 50)
	c.p.Meta = conntrack.Meta{}
	return c.p
}

// scattered puts the numbers below 60 million into another order.
func scattered(n int) int { return n * 29_000_041 % 60_000_000 }

func inOrder(n int) int { return n }

var orders = []struct {
	name string
	of   func(int) int
}{{"ports in order", inOrder}, {"scattered", scattered}}

// BenchmarkOpenAmongAMillion opens connections while others time out, as they do if a million are opened each minute.
func BenchmarkOpenAmongAMillion(b *testing.B) {
	for _, order := range orders {
		b.Run(order.name, func(b *testing.B) {
			table, request, c := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080), newCallers()
			now := time.Duration(0)
			open := func(n int) {
				if n%1000 == 0 {
					if now += 60 * time.Millisecond; now%conntrack.SweepInterval < 60*time.Millisecond {
						table.Expire(now)
					}
				}
				table.Execute(now, c.call(order.of(n)), &request)
			}
			const warm = 1_000_000
			for n := range warm {
				open(n)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				open(warm + n)
			}
			require.Equal(b, "new|trk|dnat", c.p.Meta.State.String())
		})
	}
}

// BenchmarkOpenAMillion opens a million connections in an empty table; its unit is one connection.
func BenchmarkOpenAMillion(b *testing.B) {
	for _, order := range orders {
		b.Run(order.name, func(b *testing.B) {
			request, c := dnat(1, "10.0.1.1", 8080), newCallers()
			var table *conntrack.Table
			for n := range b.N {
				if n%1_000_000 == 0 {
					table = conntrack.New(conntrack.Config{})
				}
				table.Execute(0, c.call(order.of(n)), &request)
			}
			require.Equal(b, (b.N-1)%1_000_000+1, table.Len())
		})
	}
}

// BenchmarkKnown is a frame of one of the connections that are known.
func BenchmarkKnown(b *testing.B) {
	for _, conns := range []int{1, 64, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			table, request, c := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080), newCallers()
			for n := range conns {
				table.Execute(0, c.call(n), &request)
			}
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for range b.N {
				table.Execute(0, c.call(i), &request)
				if i++; i == conns {
					i = 0
				}
			}
			require.Equal(b, conns, table.Len())
		})
	}
}

// BenchmarkKnownHinted is the same where each connection's packets have a hint.
func BenchmarkKnownHinted(b *testing.B) {
	for _, conns := range []int{64, 10_000} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			table, request, c := conntrack.New(conntrack.Config{}), dnat(1, "10.0.1.1", 8080), newCallers()
			hints := make([]conntrack.Hint, conns)
			for n := range conns {
				table.Execute(0, c.call(n), &request)
			}
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for range b.N {
				table.ExecuteHinted(0, c.call(i), &request, &hints[i])
				if i++; i == conns {
					i = 0
				}
			}
			require.Equal(b, conns, table.Len())
		})
	}
}

// BenchmarkCall is what of the other benchmarks makes the frame.
func BenchmarkCall(b *testing.B) {
	c := newCallers()
	for n := range b.N {
		c.call(n)
	}
}
