package simhost_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/simhost"
)

// sink collects what a connection brings.
type sink struct {
	got []byte
	end error // io.EOF or what went wrong
}

func (s *sink) handle(c *simhost.Conn) {
	for {
		data, err := c.Take()
		s.got = append(s.got, data...)
		switch {
		case err == nil:
		case errors.Is(err, simhost.ErrAgain):
			return
		default:
			s.end = err
			return
		}
	}
}

// patient never gives a connection up within a test.
var patient = simhost.TCP{SYNRetries: 100, SYNACKRetries: 100, Retries: 100, OrphanRetries: 100}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// transfer sends data both ways between two hosts in pieces, and closes both ways.
func transfer(t *testing.T, seed uint64, faults simhost.Faults, size int) *bed {
	t.Helper()
	b := newBed(t, simhost.Config{Seed: seed})
	b.tcp, b.known = patient, []byte{2, 3}
	server, client := b.host("server", 2), b.host("client", 3)
	require.NoError(t, server.SetFaults(faults))
	random := rand.New(rand.NewPCG(seed, 1))
	up, down := randomBytes(random, size), randomBytes(random, size/2)
	atServer, atClient := &sink{}, &sink{}
	require.NoError(t, server.Serve(80, func(c *simhost.Conn) {
		feed(b, random, c, down)
		c.Handle(atServer.handle)
	}))
	c, err := client.Dial(addrPort(server, 80), simhost.DialOptions{})
	require.NoError(t, err)
	feed(b, random, c, up)
	c.Handle(atClient.handle)
	finished := b.Until(func() bool { return atServer.end != nil && atClient.end != nil }, 24*time.Hour)
	require.Truef(t, finished, "seed %d: server has %d of %d, client %d of %d bytes; %s; %s", seed,
		len(atServer.got), len(up), len(atClient.got), len(down), server, client)
	require.Equal(t, io.EOF, atServer.end)
	require.Equal(t, io.EOF, atClient.end)
	require.True(t, bytes.Equal(up, atServer.got), "seed %d: server", seed)
	require.True(t, bytes.Equal(down, atClient.got), "seed %d: client", seed)
	b.Advance(24 * time.Hour)
	require.Empty(t, server.Conns(), "seed %d", seed)
	require.Empty(t, client.Conns(), "seed %d", seed)
	require.Empty(t, b.wrong)
	return b
}

// feed writes data in pieces at random times, then closes that way.
func feed(b *bed, random *rand.Rand, c *simhost.Conn, data []byte) {
	if len(data) == 0 {
		c.CloseWrite()
		return
	}
	n := min(1+random.IntN(5000), len(data))
	_, err := c.Write(data[:n])
	require.NoError(b.t, err)
	b.After(time.Duration(random.IntN(int(time.Millisecond))), func() { feed(b, random, c, data[n:]) })
}

func TestDataArrivesIntactWhateverTheLinkDoes(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		f := simhost.Faults{
			Loss:      0.3 * random.Float64() * float64(seed%3) / 2,
			Duplicate: 0.2 * random.Float64() * float64(seed%2),
			Reorder:   0.3 * random.Float64() * float64(seed/3%2),
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { transfer(t, seed, f, random.IntN(100_000)) })
	}
}

func TestSameSeedSameRun(t *testing.T) {
	f := simhost.Faults{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1}
	first, second, other := transfer(t, 7, f, 50_000), transfer(t, 7, f, 50_000), transfer(t, 8, f, 50_000)
	require.Equal(t, first.log, second.log)
	require.NotEqual(t, first.log, other.log)
}

// TestLostSegmentIsSentAgainAtOnce drops one segment in the middle of many: three duplicate
// acknowledgements bring it back within a round trip or two, long before the timer would.
func TestLostSegmentIsSentAgainAtOnce(t *testing.T) {
	b := newBed(t, simhost.Config{Latency: 10 * time.Millisecond})
	server, client := b.host("server", 2), b.host("client", 3)
	got := &sink{}
	require.NoError(t, server.Serve(80, func(c *simhost.Conn) { c.Handle(got.handle) }))
	c, err := client.Dial(addrPort(server, 80), simhost.DialOptions{})
	require.NoError(t, err)
	b.Until(func() bool { return c.State() == simhost.Established }, time.Second)
	_, err = c.Write(make([]byte, 1460))
	require.NoError(t, err)
	require.NoError(t, server.SetFaults(simhost.Faults{Loss: 1}))
	b.Advance(15 * time.Millisecond) // it is lost at the server's end
	require.NoError(t, server.SetFaults(simhost.Faults{}))
	_, err = c.Write(make([]byte, 8*1460))
	require.NoError(t, err)
	began := b.Now()
	require.True(t, b.Until(func() bool { return len(got.got) == 9*1460 }, time.Second))
	require.Less(t, b.Now()-began, 100*time.Millisecond)
	require.EqualValues(t, 1, client.Counters().Retransmitted)
}

// TestReaderThatDoesNotRead shuts the window: the sender asks now and then, and goes on when
// the reader does.
func TestReaderThatDoesNotRead(t *testing.T) {
	b := newBed(t, simhost.Config{})
	b.tcp = simhost.TCP{Buffer: 10_000}
	server, client := b.host("server", 2), b.host("client", 3)
	var at *simhost.Conn
	require.NoError(t, server.Serve(80, func(c *simhost.Conn) { at = c }))
	c, err := client.Dial(addrPort(server, 80), simhost.DialOptions{})
	require.NoError(t, err)
	data := randomBytes(rand.New(rand.NewPCG(1, 1)), 50_000)
	_, err = c.Write(data)
	require.NoError(t, err)
	c.CloseWrite()
	b.Advance(time.Hour)
	require.Equal(t, "FIN-WAIT-1", c.State().String())
	require.Contains(t, at.String(), "unread 10000")
	require.Contains(t, b.text(), "[.] seq") // probes
	var got []byte
	for range 1000 {
		p := make([]byte, 777)
		n, err := at.Read(p)
		got = append(got, p[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		b.Advance(100 * time.Millisecond)
	}
	require.True(t, bytes.Equal(data, got))
	require.Equal(t, "CLOSE-WAIT", at.State().String())
}
