package shard_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/shard"
	"hpnn/internal/shard/worlds"
	"hpnn/simbackend"
)

// shards is so many that keys seldom meet in one.
const shards = 7

// apart is one program on one switch, and on as many as there are shards.
type apart struct {
	placer *shard.Placer
	one    *simbackend.Switch
	many   [shards]*simbackend.Switch
}

// newApart is nil for a program that the simulator or the placer refuses.
func newApart(t *testing.T, p openflow.Program) *apart {
	a := &apart{}
	var err error
	if a.placer, err = shard.New(p, shards); err != nil {
		return nil
	}
	for _, sw := range append([]**simbackend.Switch{&a.one}, pointers(&a.many)...) {
		var ports []simbackend.Port
		for i := range worlds.Ports {
			ports = append(ports, simbackend.Port{Number: openflow.PortNo(i + 1), Name: fmt.Sprint("p", i+1)})
		}
		*sw, err = simbackend.New(simbackend.Config{Ports: ports})
		require.NoError(t, err)
		if err := (*sw).Commit(t.Context(), p.Bundle()); err != nil {
			return nil
		}
	}
	return a
}

func pointers(list *[shards]*simbackend.Switch) (all []**simbackend.Switch) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// fares is what becomes of a frame on a switch.
func fares(sw *simbackend.Switch, at time.Duration, in datapath.Injection) string {
	var b strings.Builder
	sw.Advance(at)
	v := sw.Receive(in, func(o datapath.Output) { fmt.Fprintf(&b, "%v %x\n", o.Port, o.Frame) })
	fmt.Fprintln(&b, v.Table, v.Matched, v.PacketIns, v.Err)
	return b.String()
}

// limited reports whether the shards have learned so much together that a limit may have been met.
func (a *apart) limited(p openflow.Program) bool {
	flows := 0
	for _, sw := range a.many {
		peak, _ := sw.Peak()
		flows += peak - p.Len()
	}
	return a.placer.Learned >= 0 && flows > a.placer.Learned
}

// Whatever the program, and whatever the frames: while the placer places them, each fares as on one switch.
func TestFramesFareAlikeApart(t *testing.T) {
	programs, frames := 0, 0 // that remember anything
	for seed := range uint64(worldCount()) {
		rng := rand.New(rand.NewPCG(seed, 11))
		text := worlds.Rules(rng)
		p, err := openflow.ParseProgram("random", strings.NewReader(text))
		require.NoError(t, err, text)
		a := newApart(t, p)
		if a == nil {
			continue
		}
		now, placed := time.Duration(0), 0
		for n := range 150 {
			now += time.Duration(rng.IntN(300)) * time.Millisecond
			in := datapath.Injection{InPort: openflow.PortNo(1 + rng.IntN(worlds.Ports)), Frame: worlds.Frame(rng)}
			home, err := a.placer.Place(in.InPort, in.Frame)
			if err != nil {
				continue // nobody gets it
			}
			placed++
			want, got := fares(a.one, now, in), fares(a.many[home], now, in)
			if a.limited(p) {
				break
			}
			require.Equal(t, want, got, "seed %d, frame %d, shard %d\n%s", seed, n, home, text)
		}
		if flows, conns := a.one.Peak(); flows > p.Len() || conns > 0 {
			programs, frames = programs+1, frames+placed
		}
	}
	t.Logf("%d programs with a memory, %d frames", programs, frames)
	require.Greater(t, programs, worldCount()/10)
}

func worldCount() int {
	if testing.Short() {
		return 100
	}
	return 500
}
