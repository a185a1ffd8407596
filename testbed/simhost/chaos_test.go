package simhost_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/simhost"
)

// chaos is a world where hosts ask each other for things while everything happens to them.
type chaos struct {
	*bed
	random  *rand.Rand
	hosts   []*simhost.Host
	asked   int
	ended   map[int]int // calls of done, by request
	answers int
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{
		bed:    newBed(t, simhost.Config{Seed: seed}),
		random: rand.New(rand.NewPCG(seed, 9)),
		ended:  map[int]int{},
	}
	for i := range byte(4) {
		h := c.host(fmt.Sprint("h", i), 2+i)
		_, err := h.ServeWeb(80)
		require.NoError(t, err)
		require.NoError(t, h.EchoUDP(7))
		c.hosts = append(c.hosts, h)
	}
	return c
}

func (c *chaos) any() *simhost.Host { return c.hosts[c.random.IntN(len(c.hosts))] }

// ask begins a request of any kind.
func (c *chaos) ask() {
	id := c.asked
	c.asked++
	urls := []string{"http://%s/", "http://%s/healthz", "http://%s/slow?seconds=3", "http://%s:81/", "http://%s/none"}
	o := simhost.GetOptions{
		Timeout:   time.Duration(1+c.random.IntN(20)) * time.Second,
		KeepAlive: simhost.KeepAlive(c.random.IntN(2)),
	}
	if c.random.IntN(3) == 0 {
		o.Dial = simhost.DialOptions{LocalPort: uint16(5000 + c.random.IntN(3)), Reuse: simhost.Reuse(c.random.IntN(2))}
	}
	from, to := c.any(), c.any()
	from.Get(fmt.Sprintf(urls[c.random.IntN(len(urls))], to.Address()), o, func(r simhost.Result) {
		c.ended[id]++
		if r.Err == nil {
			c.answers++
		}
	})
}

// harm does something to a host, or ends it.
func (c *chaos) harm() {
	h := c.any()
	switch c.random.IntN(11) {
	case 0:
		h.Pause(simhost.Machine)
	case 1:
		h.Pause(simhost.Processes)
	case 2:
		h.Kill()
	case 3:
		h.Cut()
	case 4:
		h.Slow(time.Duration(c.random.IntN(500)) * time.Millisecond)
	case 5:
		require.NoError(c.t, h.SetFaults(simhost.Faults{Loss: 0.5 * c.random.Float64(), Duplicate: 0.2, Reorder: 0.2}))
	default:
		c.heal(h)
	}
}

func (c *chaos) heal(h *simhost.Host) {
	h.Resume()
	h.Mend()
	h.Slow(0)
	require.NoError(c.t, h.SetFaults(simhost.Faults{}))
	require.NoError(c.t, h.Revive())
	require.Equal(c.t, "running", h.Condition())
}

// run lets a while of it pass, heals all, and checks that nothing is left of it.
func (c *chaos) run() {
	for range 150 {
		if c.random.IntN(4) == 0 {
			c.harm()
		} else {
			c.ask()
		}
		c.Advance(time.Duration(c.random.IntN(int(time.Second))))
	}
	for _, h := range c.hosts {
		c.heal(h)
	}
	c.Advance(time.Hour)
	require.Len(c.t, c.ended, c.asked)
	for id, calls := range c.ended {
		require.Equal(c.t, 1, calls, "request %d", id)
	}
	require.Empty(c.t, c.wrong)
	c.checkIdle()
	c.checkServing()
}

// checkIdle: an hour later the only connections are those kept alive, perhaps by a server
// whose client vanished without a word.
func (c *chaos) checkIdle() {
	for _, h := range c.hosts {
		for _, conn := range h.Conns() {
			require.Equal(c.t, simhost.Established, conn.State(), "%s: %s", h.Name(), conn)
			require.Zero(c.t, conn.Unsent())
		}
	}
}

// checkServing: everybody gets answers from everybody.
func (c *chaos) checkServing() {
	for _, from := range c.hosts {
		for _, to := range c.hosts {
			r := from.Get(fmt.Sprintf("http://%s/healthz", to.Address()), simhost.GetOptions{}, nil)
			require.True(c.t, c.Until(r.Done, time.Minute))
			require.NoError(c.t, r.Result().Err, "%s to %s", from, to)
		}
	}
}

func TestWhateverHappensEveryRequestEnds(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newChaos(t, seed)
			c.run()
			require.Positive(t, c.answers)
			t.Logf("%d of %d requests answered, %d log lines", c.answers, c.asked, len(c.log))
		})
	}
}

// TestChaosIsTheSameTwice is the promise of determinism at its hardest.
func TestChaosIsTheSameTwice(t *testing.T) {
	first, second := newChaos(t, 77), newChaos(t, 77)
	first.run()
	second.run()
	require.Equal(t, first.log, second.log)
	require.Equal(t, first.answers, second.answers)
}

// TestPortsRunOut: a client that uses up its ports towards one server is told, and has them
// back after TIME-WAIT.
func TestPortsRunOut(t *testing.T) {
	w := simhost.New(simhost.Config{})
	h, err := w.Add(hostConfig("h", 2))
	require.NoError(t, err)
	to := netip.MustParseAddrPort("10.0.0.9:80")
	for range 60999 - 32768 + 1 {
		_, err := h.Dial(to, simhost.DialOptions{})
		require.NoError(t, err)
	}
	_, err = h.Dial(to, simhost.DialOptions{})
	require.ErrorIs(t, err, simhost.ErrNoPort)
	_, err = h.Dial(netip.MustParseAddrPort("10.0.0.9:81"), simhost.DialOptions{})
	require.NoError(t, err, "another server")
	w.Advance(time.Hour) // nobody answers
	_, err = h.Dial(to, simhost.DialOptions{})
	require.NoError(t, err)
}
