package conntrack_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
	"hpnn/testbed/dummy"
)

// A rig runs the same frames through the tracker and, where it is installed, through a
// real OVS, and compares every frame that leaves and every connection that remains.

// step is one action of a script.
type step struct {
	clear bool // ct_clear
	here  bool // ct() without table=: the packet goes on in the same pass
	conntrack.Request
}

// script is what a frame goes through. The last step is a ct(table=), so that the state
// can be seen. A frame chooses its script by the last byte of its destination MAC.
type script []step

func (s step) String() string { return s.actions(0) }

func (s step) actions(table int) string {
	if s.clear {
		return "ct_clear"
	}
	args := []string{fmt.Sprintf("zone=%d", s.Zone)}
	if s.Commit {
		args = append(args, "commit")
	}
	if s.Force {
		args = append(args, "force")
	}
	if !s.here {
		args = append(args, fmt.Sprintf("table=%d", table))
	}
	if nat := natText(s.NAT); nat != "" {
		args = append(args, nat)
	}
	var exec []string
	if s.MarkMask != 0 {
		exec = append(exec, fmt.Sprintf("set_field:%#x/%#x->ct_mark", s.Mark&s.MarkMask, s.MarkMask))
	}
	if s.LabelMask != (conntrack.Label{}) {
		exec = append(exec, fmt.Sprintf("set_field:%s/%s->ct_label", s.Label, s.LabelMask))
	}
	if len(exec) > 0 {
		args = append(args, "exec("+strings.Join(exec, ",")+")")
	}
	return "ct(" + strings.Join(args, ",") + ")"
}

func natText(n conntrack.NAT) string {
	var verb string
	switch n.Kind {
	case conntrack.NATNone:
		return ""
	case conntrack.NATExisting:
		return "nat"
	case conntrack.NATSrc:
		verb = "src"
	case conntrack.NATDst:
		verb = "dst"
	}
	switch {
	case n.AddrMin == addr{}:
		return "nat(" + verb + ")"
	case n.PortMin == 0:
		return fmt.Sprintf("nat(%s=%s)", verb, dotted(n.AddrMin))
	}
	return fmt.Sprintf("nat(%s=%s:%d)", verb, dotted(n.AddrMin), n.PortMin)
}

// exportTable turns what conntrack found into Ethernet addresses and sends a frame with
// state, zone and mark, one with the label, and, unless it is invalid, one with the
// original tuple.
const exportTable = 250

const exportFlows = `
table=250,priority=1,ip actions=move:NXM_NX_CT_STATE[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_ZONE[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_MARK[]->NXM_OF_ETH_DST[0..31],output:2,move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_SRC[],move:NXM_NX_CT_LABEL[48..95]->NXM_OF_ETH_DST[],output:2
table=250,priority=2,ip,ct_state=+trk-inv actions=move:NXM_NX_CT_STATE[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_ZONE[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_MARK[]->NXM_OF_ETH_DST[0..31],output:2,move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_SRC[],move:NXM_NX_CT_LABEL[48..95]->NXM_OF_ETH_DST[],output:2,move:NXM_NX_CT_NW_SRC[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_TP_SRC[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_NW_DST[]->NXM_OF_ETH_DST[0..31],move:NXM_NX_CT_TP_DST[]->NXM_OF_ETH_DST[32..47],output:2
`

// flows renders script k.
func (s script) flows(k int) string {
	var b strings.Builder
	table, next := 0, 1+k*len(s)
	var actions []string
	for i, st := range s {
		target := next
		if i == len(s)-1 {
			target = exportTable
		}
		actions = append(actions, st.actions(target))
		if st.here || st.clear {
			continue
		}
		fmt.Fprintf(&b, "table=%d,priority=10,ip,dl_dst=0a:00:00:00:00:%02x actions=%s\n", table, k, strings.Join(actions, ","))
		table, next, actions = target, next+1, nil
	}
	return b.String()
}

// export is a frame the real switch must emit, and from which byte on it is certain.
type export struct {
	frame []byte
	from  int
	name  string
}

func (e export) matches(frame []byte) bool {
	return len(frame) == len(e.frame) && slices.Equal(frame[e.from:], e.frame[e.from:])
}

// exported is what the export table makes of a packet. Of a fragment that was let go
// untracked only the state is certain: OVS shows what its memory held before.
func exported(p *conntrack.Packet) (out []export) {
	m := p.Meta
	untracked := m.State&conntrack.StateTrk == 0
	var src, dst [6]byte
	emit := func(uncertain int) {
		e := export{frame: slices.Clone(p.Frame)}
		copy(e.frame, dst[:])
		copy(e.frame[6:], src[:])
		if untracked {
			e.from = uncertain
		}
		out = append(out, e)
	}
	put16(src[:], 0, m.Zone)
	src[5] = byte(m.State)
	copy(dst[:2], p.Frame)
	put16(dst[:], 2, uint16(m.Mark>>16))
	put16(dst[:], 4, uint16(m.Mark))
	emit(11)
	for i := range 6 {
		src[5-i] = byte(m.Label.Lo >> (8 * i))
		dst[5-i] = byte((m.Label.Lo>>48 | m.Label.Hi<<16) >> (8 * i))
	}
	emit(12)
	if untracked || m.State&conntrack.StateInv != 0 {
		return out
	}
	if m.State&(conntrack.StateNew|conntrack.StateEst|conntrack.StateRpl) != 0 { // else OVS does not move them
		if packet.Word(p.Frame, 20)&0x1fff == 0 { // a later fragment shows no ports, not even these
			put16(src[:], 0, m.Orig.SrcPort)
			put16(dst[:], 0, m.Orig.DstPort)
		} else {
			put16(src[:], 0, 0)
			put16(dst[:], 0, 0)
		}
		copy(src[2:], m.Orig.Src[:])
		copy(dst[2:], m.Orig.Dst[:])
	}
	emit(0)
	return out
}

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
	if holdsFragments {
		require.NoError(t, sw.Warp(ctx, 30*time.Second))
		holdsFragments = false
	}
	require.NoError(t, sw.Reset(ctx))
	text := exportFlows
	for k, s := range scripts {
		text += s.flows(k)
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

// run executes the steps from i on.
func (r *rig) run(p *conntrack.Packet, s script, i int) []*conntrack.Packet {
	for ; i < len(s); i++ {
		st := s[i]
		if st.clear {
			// OVS leaves ct_clear out unless the flow itself is tracked, which it
			// no longer is behind a ct() of the same pass.
			if i > 0 && !s[i-1].here && !s[i-1].clear {
				p.Meta.Clear()
			}
			continue
		}
		out := r.table.Execute(r.now, p, &st.Request)
		if !st.here {
			p.Recirc = uint32(r.packets<<8 + i + 1) // the switch without a cache has a new id each time
		}
		var done []*conntrack.Packet
		if len(out.Released) > 0 {
			holdsFragments = true
			if !out.Held {
				done = append(done, r.run(p, s, i+1)...)
			}
			for j := range out.Released {
				f := &out.Released[j]
				if !st.here {
					f.Recirc = p.Recirc
				}
				done = append(done, r.run(f, s, i+1)...)
			}
			return done
		}
		if out.Held {
			holdsFragments = true
			return nil
		}
	}
	return []*conntrack.Packet{p}
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

// awaitSweep waits for the real switch's cleaner, a thread of its own, and holds the number
// of entries against the tracker's.
func (r *rig) awaitSweep() {
	r.t.Helper()
	want, got := strconv.Itoa(r.table.Len()), ""
	for range 1000 {
		text, err := r.real.Appctl(context.Background(), "dpctl/ct-get-nconns")
		require.NoError(r.t, err)
		if got = strings.TrimSpace(text); got == want {
			return
		}
	}
	require.Equal(r.t, want, got, "entries after the sweep\n%s", r.story())
}

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
