package conntrack_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
	"hpnn/testbed/dummy"
)

// diffVariable asks for a longer comparison.
const diffVariable = "HPNN_CONNTRACK_DIFF"

// TestAgainstOVS runs random conversations through the tracker and a real OVS. By
// default a few fixed seeds; HPNN_CONNTRACK_DIFF=10m runs fresh ones for that long.
func TestAgainstOVS(t *testing.T) {
	sw := realSwitch(t)
	if sw == nil {
		reason, _ := dummy.Available()
		t.Skip("no real switch to compare with: " + reason)
	}
	budget, first := 1500*time.Millisecond, uint64(1)
	if text := os.Getenv(diffVariable); text != "" {
		var err error
		budget, err = time.ParseDuration(text)
		require.NoError(t, err)
		first = uint64(time.Now().UnixNano())
	}
	packets, seeds, aborts := 0, 0, 0
	states := map[conntrack.State]int{}
	for start := time.Now(); time.Since(start) < budget; seeds++ {
		r := runSeed(t, sw, first+uint64(seeds))
		packets += r.packets
		if r.over {
			aborts++
		}
		for s, n := range r.states {
			states[s] += n
		}
	}
	t.Logf("%d packets in %d random worlds, %d of which ended in a foreseen abort of OVS; no difference", packets, seeds, aborts)
	t.Logf("states seen: %v", states)
}

// runSeed runs one world. A difference counts only if it comes again: ovs-vswitchd's cleaner
// also wakes every 20 s of real time, on which the clock of the world has no hold.
func runSeed(t *testing.T, sw *dummy.Switch, seed uint64) *rig {
	r, failure := attemptSeed(t, sw, seed)
	if failure == "" {
		return r
	}
	if r, failure = attemptSeed(t, sw, seed); failure != "" {
		t.Fatal(failure)
	}
	return r
}

func attemptSeed(t *testing.T, sw *dummy.Switch, seed uint64) (r *rig, failure string) {
	a := &attempt{TB: t}
	defer func() {
		if a.failure != "" {
			_ = recover()
			failure = a.failure
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 0))
	r = newRig(a, sw, randomScripts(rng)...)
	r.title = fmt.Sprintf("seed %d", seed)
	r.warp(time.Millisecond) // wakes the cleaner, which then sleeps for 20 s
	if seed%4 == 0 {
		fragmentWorld(r, rng)
	}
	w := newWorld(rng, r)
	w.deep = seed%4 == 1
	runWorld(r, w)
	return r, ""
}

// attempt is a test that may be tried again: it keeps its failure to itself.
type attempt struct {
	testing.TB
	failure string
}

func (a *attempt) Errorf(format string, args ...any) { a.failure += fmt.Sprintf(format, args...) }
func (a *attempt) FailNow()                          { panic(a) }

func (a *attempt) Fatalf(format string, args ...any) {
	a.Errorf(format, args...)
	a.FailNow()
}

func runWorld(r *rig, w *world) {
	for range 6 {
		for range 40 {
			w.step()
		}
		r.settle()
		if w.IntN(2) == 0 {
			r.warp(time.Duration(warps[w.IntN(len(warps))]) * time.Millisecond)
		}
	}
	r.finish()
}

// warps are times worth jumping over, in milliseconds: below, at and above timeouts.
var warps = []int{1, 500, 999, 10_000, 29_999, 30_000, 30_001, 44_999, 45_000, 59_999, 60_000, 60_001, 900_000, 86_400_000}

var (
	clients  = []addr{ip("10.0.0.1"), ip("10.0.0.2")}
	servers  = []addr{ip("10.0.1.1"), ip("10.0.1.2"), ip("10.0.9.9")}
	mappings = []addr{ip("10.0.1.1"), ip("10.0.1.2"), ip("10.0.2.1"), {}}
)

func randomScripts(rng *rand.Rand) []script {
	scripts := []script{
		{{Request: conntrack.Request{Zone: 1}}},
		{{Request: conntrack.Request{Zone: 1, Commit: true}}},
		{{Request: conntrack.Request{Zone: 1, NAT: conntrack.NAT{Kind: conntrack.NATExisting}}}},
		{{Request: conntrack.Request{Zone: 1, Commit: true, NAT: conntrack.NAT{Kind: conntrack.NATDst, AddrMin: servers[0], PortMin: 8080}}}},
		{{Request: conntrack.Request{Zone: 1, Commit: true, NAT: conntrack.NAT{Kind: conntrack.NATSrc, AddrMin: mappings[2]}}}},
	}
	for range 5 {
		scripts = append(scripts, randomScript(rng))
	}
	return scripts
}

func randomScript(rng *rand.Rand) script {
	var s script
	for range 1 + rng.IntN(3) {
		switch {
		case rng.IntN(12) == 0:
			s = append(s, step{clear: true})
		default:
			s = append(s, step{here: rng.IntN(4) == 0, Request: randomRequest(rng)})
		}
	}
	last := &s[len(s)-1]
	if last.clear || last.here {
		s = append(s, step{Request: randomRequest(rng)})
	}
	return s
}

func randomRequest(rng *rand.Rand) conntrack.Request {
	r := conntrack.Request{Zone: 1, Commit: rng.IntN(2) == 0}
	if rng.IntN(5) == 0 {
		r.Zone = uint16(rng.IntN(3))
	}
	r.Force = r.Commit && rng.IntN(6) == 0
	switch rng.IntN(4) {
	case 0, 1:
	case 2:
		if !r.Commit {
			r.NAT.Kind = conntrack.NATExisting
		}
	case 3:
		if r.Commit {
			r.NAT = randomNAT(rng)
		}
	}
	if r.Commit && rng.IntN(4) == 0 {
		r.Mark, r.MarkMask = rng.Uint32(), []uint32{0xffffffff, 0xff, 0xf0f0}[rng.IntN(3)]
	}
	if r.Commit && rng.IntN(6) == 0 {
		r.LabelMask = conntrack.Label{Hi: 0xff, Lo: 0xffff << 40}
		r.Label = conntrack.Label{Hi: rng.Uint64() & 0xff, Lo: rng.Uint64() & (0xffff << 40)}
	}
	return r
}

func randomNAT(rng *rand.Rand) conntrack.NAT {
	n := conntrack.NAT{Kind: conntrack.NATSrc + conntrack.NATKind(rng.IntN(2)), AddrMin: mappings[rng.IntN(len(mappings))]}
	if n.AddrMin != (addr{}) && rng.IntN(2) == 0 {
		n.PortMin = []uint16{80, 8080, 1000, 40000}[rng.IntN(4)]
	}
	return n
}
