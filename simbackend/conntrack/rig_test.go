package conntrack_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
	"hpnn/testbed/dummy"
)

// A rig runs the same frames through the tracker and, where it is installed, through a
// real OVS, and compares every frame that leaves and every connection that remains.

// rig is the pair.
type rig struct {
	t       testing.TB
	table   *conntrack.Table
	now     time.Duration
	scripts []script
	real    *dummy.Switch
	title   string // what to repeat the story with
	history []string
	packets int
	states  map[conntrack.State]int
	pending [][]byte // frames the real switch has not seen yet
	want    []export // what it must emit for them
	over    bool     // the real switch has aborted, as it should
}

// the real switch all tests share; nil where there is none.
var (
	sharedSwitch   *dummy.Switch
	startShared    sync.Once
	holdsFragments bool // which only time makes it forget
)

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedSwitch != nil {
		if err := sharedSwitch.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

func realSwitch(t testing.TB) *dummy.Switch {
	t.Helper()
	startShared.Do(func() {
		if _, ok := dummy.Available(); !ok {
			return
		}
		var err error
		sharedSwitch, err = dummy.Start(context.Background(), dummy.Config{Ports: dummy.NumberedPorts(2)})
		require.NoError(t, err)
	})
	return sharedSwitch
}

func newRig(t testing.TB, sw *dummy.Switch, scripts ...script) *rig {
	r := &rig{t: t, table: conntrack.New(conntrack.Config{}), scripts: scripts, real: sw, states: map[conntrack.State]int{}}
	if sw == nil {
		return r
	}
	ctx := context.Background()
	require.NoError(t, sw.Reset(ctx))
	if holdsFragments {
		require.NoError(t, sw.Warp(ctx, 30*time.Second))
		r.awaitSweep()
		holdsFragments = false
	}
	text, table := exportFlows, 1
	for k, s := range scripts {
		text += s.flows(k, table)
		table += len(s)
	}
	require.NoError(t, sw.ReplaceFlows(ctx, text), "%s", text)
	return r
}

// send runs a frame through script k of both sides and returns what the tracker made of
// it; comparison waits for the next settle.
func (r *rig) send(k int, frame []byte) []*conntrack.Packet {
	r.t.Helper()
	frame = slices.Clone(frame)
	frame[5] = byte(k)
	if r.over {
		return nil
	}
	r.packets++
	aborts := r.table.Aborts()
	done := r.run(newPacket(slices.Clone(frame)), r.scripts[k], 0)
	if r.table.Aborts() > aborts {
		r.note("%d. script %d %v: %s => abort", r.packets, k, r.scripts[k], brief(frame))
		r.abort(frame)
		return nil
	}
	line := fmt.Sprintf("%d. script %d %v: %s", r.packets, k, r.scripts[k], brief(frame))
	for _, p := range done {
		r.states[p.Meta.State]++
		line += fmt.Sprintf("\n    => %s %s", p.Meta.State, flowOf(p.Frame))
	}
	r.note("%s", line)
	r.pending = append(r.pending, frame)
	for _, p := range done {
		for _, e := range exported(p) {
			e.name = fmt.Sprintf("packet %d, %s, of script %d %v", r.packets, p.Meta.State, k, r.scripts[k])
			r.want = append(r.want, e)
		}
	}
	return done
}

// abort expects the frame to kill the real switch, and ends the story.
func (r *rig) abort(frame []byte) {
	r.t.Helper()
	r.settle()
	r.over = true
	if r.real == nil {
		return
	}
	ctx := context.Background()
	require.ErrorIs(r.t, r.real.Receive(ctx, "p1", frame), dummy.ErrAborted, "%s", r.story())
	require.NoError(r.t, r.real.Restart(ctx))
}

// run executes the steps of a script from i on and returns what leaves.
func (r *rig) run(p *conntrack.Packet, s script, i int) []*conntrack.Packet {
	for ; i < len(s); i++ {
		if s[i].clear {
			// OVS leaves ct_clear out unless the flow itself is tracked, which it
			// no longer is behind a ct() of the same pass.
			if i > 0 && !s[i-1].here && !s[i-1].clear {
				p.Meta.Clear()
			}
			continue
		}
		out := r.table.Execute(r.now, p, &s[i].Request)
		if out.Held || len(out.Released) > 0 {
			return r.runReleased(p, out, s, i)
		}
		p.Recirc = r.recirc(p.Recirc, s, i)
	}
	return []*conntrack.Packet{p}
}

// runReleased goes on behind step i with what a ct() let go.
func (r *rig) runReleased(p *conntrack.Packet, out conntrack.Outcome, s script, i int) (done []*conntrack.Packet) {
	holdsFragments = true
	recirc := r.recirc(p.Recirc, s, i)
	script := p.Frame[5]
	if !out.Held {
		p.Recirc = recirc
		done = r.run(p, s, i+1)
	}
	for j := range out.Released {
		f := &out.Released[j]
		f.Recirc = recirc
		if !s[i].here && i < len(s)-1 && f.Frame[5] != script {
			continue // the next table has no flow for it
		}
		done = append(done, r.run(f, s, i+1)...)
	}
	return done
}

// recirc is the recirculation id behind step i. A switch without a cache has a new one
// each time.
func (r *rig) recirc(old uint32, s script, i int) uint32 {
	if s[i].here {
		return old
	}
	return uint32(r.packets<<8 + i + 1)
}

// warp lets time pass on both sides.
func (r *rig) warp(d time.Duration) {
	r.t.Helper()
	if r.over {
		return
	}
	r.settle()
	r.note("warp %s", d)
	r.now += d
	r.table.Expire(r.now)
	if r.real != nil {
		require.NoError(r.t, r.real.Warp(context.Background(), d))
		r.awaitSweep()
	}
}

// awaitSweep waits for the real switch's cleaners, threads of their own, and holds the
// numbers of entries and of waiting fragments against the tracker's.
func (r *rig) awaitSweep() {
	r.t.Helper()
	want := fmt.Sprintf("%d entries, %d fragments", r.table.Len(), r.table.Waiting())
	got := ""
	for range 1000 {
		entries, err := r.real.Appctl(context.Background(), "dpctl/ct-get-nconns")
		require.NoError(r.t, err)
		status, err := r.real.Appctl(context.Background(), "dpctl/ipf-get-status")
		require.NoError(r.t, err)
		fragments := numFrag.FindStringSubmatch(status)
		require.NotNil(r.t, fragments, "%s", status)
		if got = fmt.Sprintf("%s entries, %s fragments", strings.TrimSpace(entries), fragments[1]); got == want {
			return
		}
	}
	require.Equal(r.t, want, got, "after the sweep\n%s", r.story())
}

var numFrag = regexp.MustCompile(`num frag: (\d+)`)

// forget empties both tables between cases that have nothing to do with each other.
func (r *rig) forget() {
	r.t.Helper()
	r.finish()
	r.history = nil
	r.table.Flush(r.now, conntrack.Filter{AnyZone: true})
	if r.real != nil {
		require.NoError(r.t, r.real.FlushConnections(context.Background()))
	}
}

// settle lets the real switch catch up and compares.
func (r *rig) settle() {
	r.t.Helper()
	frames, want := r.pending, r.want
	r.pending, r.want = nil, nil
	if r.real == nil || len(frames) == 0 {
		return
	}
	require.NoError(r.t, r.real.Receive(context.Background(), "p1", frames...), "%s", r.story())
	outputs, err := r.real.Outputs()
	require.NoError(r.t, err)
	for i := range max(len(outputs), len(want)) {
		var got []byte
		expect := export{name: "nothing"}
		if i < len(outputs) {
			got = outputs[i].Frame
		}
		if i < len(want) {
			expect = want[i]
		}
		if !expect.matches(got) {
			r.t.Fatalf("output %d (%s) differs\nwant %s\ngot  %s\n%s", i, expect.name, short(expect.frame), short(got), r.story())
		}
	}
}

func short(frame []byte) string {
	if len(frame) == 0 {
		return "nothing"
	}
	return hex.EncodeToString(frame[:min(len(frame), 100)])
}

// finish compares the last frames and the connection tables.
func (r *rig) finish() {
	r.t.Helper()
	r.settle()
	if r.real == nil || r.over {
		return
	}
	text, err := r.real.Connections(context.Background())
	require.NoError(r.t, err)
	got := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(got)
	require.Equal(r.t, strings.Join(r.dump(), "\n"), strings.Join(got, "\n"), "%s", r.story())
}

func (r *rig) dump() []string {
	var lines []string
	for c := range r.table.Conns(r.now) {
		lines = append(lines, c.Stats())
	}
	slices.Sort(lines)
	return lines
}

func (r *rig) note(format string, args ...any) {
	r.history = append(r.history, fmt.Sprintf(format, args...))
}

// story is what happened, for a report.
func (r *rig) story() string {
	return r.title + "\n" + strings.Join(r.history[max(0, len(r.history)-60):], "\n")
}
