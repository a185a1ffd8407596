package simbackend_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
	"hpnn/testbed/conformance"
)

// twins are two switches that are given the same: one remembers frames, the other does not.
type twins struct {
	*testing.T
	*rand.Rand
	now              time.Duration
	cached, ordinary *simbackend.Switch
	past             []datapath.Injection
}

func newTwins(t *testing.T, ports []simbackend.Port, seed uint64) *twins {
	c := simbackend.Config{Ports: ports, ConntrackSweep: time.Second}
	cached, err := simbackend.New(c)
	require.NoError(t, err)
	ordinary, err := simbackend.NewForgetful(c)
	require.NoError(t, err)
	return &twins{T: t, Rand: rand.New(rand.NewPCG(seed, 3)), cached: cached, ordinary: ordinary}
}

func (w *twins) commit(b openflow.Bundle) {
	w.Helper()
	require.Equal(w, w.ordinary.Commit(w.Context(), b) == nil, w.cached.Commit(w.Context(), b) == nil)
}

// receive sends a frame, and often it or earlier ones again, or others that are nearly like them.
func (w *twins) receive(in datapath.Injection) {
	w.Helper()
	w.one(in)
	w.past = append(w.past, in)
	for range w.IntN(6) {
		w.one(w.varied(w.past[max(0, len(w.past)-1-w.IntN(8))]))
	}
	for range w.IntN(3) {
		w.one(in)
	}
	for range w.IntN(6) {
		w.one(w.past[max(0, len(w.past)-1-w.IntN(8))])
	}
	for range w.IntN(3) {
		w.one(w.past[w.IntN(len(w.past))])
	}
}

// varied is a frame unlike the given one in one field or a few. The checksums of IPv4 frames mostly stay right.
func (w *twins) varied(in datapath.Injection) datapath.Injection {
	f := slices.Clone(in.Frame)
	for range 1 + w.IntN(2) {
		at := 2 * w.IntN(min(len(f)/2, 27))
		old := binary.BigEndian.Uint16(f[at:])
		changed := old ^ 1<<w.IntN(16)
		if w.IntN(3) == 0 && w.past != nil { // what another has there
			if o := w.past[w.IntN(len(w.past))].Frame; at+2 <= len(o) {
				changed = binary.BigEndian.Uint16(o[at:])
			}
		}
		if slices.Contains([]int{12, 16, 20, 24}, at) && w.IntN(20) > 0 { // type, length, fragment, checksum
			continue
		}
		binary.BigEndian.PutUint16(f[at:], changed)
		if len(f) >= 42 && f[12] == 8 && f[13] == 0 && at >= 14 {
			mend(f, at, old, changed)
		}
	}
	if w.IntN(10) == 0 {
		in.InPort = openflow.PortNo(1 + w.IntN(4))
	}
	in.Frame = f
	return in
}

// traced compares what would become of a frame.
func (w *twins) traced(in datapath.Injection) {
	w.Helper()
	want, err := w.ordinary.Trace(w.Context(), in)
	require.NoError(w, err)
	got, err := w.cached.Trace(w.Context(), in)
	require.NoError(w, err)
	sameTrace(w.T, want, got)
	text, err := w.cached.AppendTrace(w.Context(), []byte("before "), in)
	require.NoError(w, err)
	require.Equal(w, "before "+want.String(), string(text))
}

// mend makes the checksums of an IPv4 frame follow a change at an even place.
func mend(f []byte, at int, old, changed uint16) {
	follow := func(sum int) {
		if sum+2 <= len(f) && at != sum {
			binary.BigEndian.PutUint16(f[sum:], packet.Update16(binary.BigEndian.Uint16(f[sum:]), old, changed))
		}
	}
	if at < 34 {
		follow(24)
	}
	switch addresses := at >= 26 && at < 34; f[23] {
	case openflow.ProtoTCP:
		if addresses || at >= 34 {
			follow(50)
		}
	case openflow.ProtoUDP:
		if addresses || at >= 34 {
			follow(40)
		}
	case openflow.ProtoICMP:
		if at >= 34 {
			follow(36)
		}
	}
}

func (w *twins) one(in datapath.Injection) {
	w.Helper()
	if w.IntN(8) == 0 {
		w.traced(in)
	}
	want, wantVerdict := sent(w.ordinary, in)
	got, gotVerdict := sent(w.cached, in)
	require.Equal(w, want, got, "%v", in)
	require.Equal(w, wantVerdict, gotVerdict, "%v", in)
	if w.IntN(20) == 0 {
		w.agree()
	}
}

func sent(sw *simbackend.Switch, in datapath.Injection) (out []datapath.Output, v simbackend.Verdict) {
	v = sw.Receive(in, func(o datapath.Output) {
		out = append(out, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
	})
	return out, v
}

func (w *twins) advance(by time.Duration) {
	w.now += by
	w.ordinary.Advance(w.now)
	w.cached.Advance(w.now)
}

// disturb does one of what happens to a switch besides frames.
func (w *twins) disturb() {
	switch w.IntN(6) {
	case 0:
		w.advance(time.Duration(1+w.IntN(2000)) * time.Millisecond)
	case 1:
		w.advance(time.Duration(w.IntN(400)) * time.Second)
	case 2:
		w.flush(datapath.ConnFilter{})
	case 3:
		conns, err := w.ordinary.Connections(w.Context(), datapath.ConnFilter{})
		require.NoError(w, err)
		if len(conns) > 0 {
			c := conns[w.IntN(len(conns))]
			w.flush(datapath.ConnFilter{Zone: c.Zone, Orig: datapath.TupleFilter{Proto: c.Orig.Proto, Src: c.Orig.Src, SrcPort: c.Orig.SrcPort}})
		}
	case 4:
		if len(w.past) > 0 {
			w.traced(w.past[w.IntN(len(w.past))])
		}
	case 5:
		w.changeFlow()
	}
}

func (w *twins) flush(f datapath.ConnFilter) {
	require.NoError(w, w.ordinary.Flush(w.Context(), f))
	require.NoError(w, w.cached.Flush(w.Context(), f))
}

// changeFlow does something to one flow that is there.
func (w *twins) changeFlow() {
	flows, err := w.ordinary.Flows(w.Context())
	require.NoError(w, err)
	if len(flows) == 0 {
		return
	}
	m := openflow.FlowMod{Flow: flows[w.IntN(len(flows))].Flow}
	other := flows[w.IntN(len(flows))]
	switch w.IntN(4) {
	case 0:
		m.Command = openflow.DeleteStrict
	case 1:
		m.Command, m.Flow.Actions = openflow.ModifyStrict, other.Actions
	case 2:
		m.Command, m.Flow.Actions = openflow.Add, other.Actions
	case 3: // beside or above it
		m.Command, m.Flow.Actions = openflow.Add, other.Actions
		m.Flow.Priority = other.Priority + uint16(w.IntN(2))
	}
	w.commit(openflow.Bundle{m})
}

// agree compares what is left behind.
func (w *twins) agree() {
	w.Helper()
	require.Equal(w, flowsOf(w.T, w.ordinary), flowsOf(w.T, w.cached))
	require.Equal(w, w.ordinary.ConnectionLines(), w.cached.ConnectionLines())
	require.Equal(w, w.ordinary.Aborts(), w.cached.Aborts())
	want, err := w.ordinary.Ports(w.Context())
	require.NoError(w, err)
	got, err := w.cached.Ports(w.Context())
	require.NoError(w, err)
	require.Equal(w, want, got)
	require.Equal(w, pending(w.ordinary), pending(w.cached))
}

func flowsOf(t *testing.T, sw *simbackend.Switch) (lines []string) {
	flows, err := sw.Flows(t.Context())
	require.NoError(t, err)
	for _, f := range flows {
		lines = append(lines, fmt.Sprintf("%v %+v", f.Flow, f.Stats))
	}
	return lines
}

func pending(sw *simbackend.Switch) (events []datapath.Event) {
	for {
		select {
		case e := <-sw.Events():
			events = append(events, e)
		default:
			return events
		}
	}
}

// TestCacheChangesNothing runs random cases, with frames repeated and the switch disturbed, on twins.
func TestCacheChangesNothing(t *testing.T) {
	var ports []simbackend.Port
	for n := range openflow.PortNo(conformance.Ports) {
		ports = append(ports, simbackend.Port{Number: n + 1, Name: fmt.Sprint("p", n+1)})
	}
	spared := uint64(0)
	for seed := range uint64(300) {
		c := conformance.Generate(seed, nil)
		w := newTwins(t, ports, seed)
		for _, f := range c.Flows {
			w.commit(openflow.Bundle{{Command: openflow.Add, Flow: f}})
		}
		for _, e := range c.Events {
			switch e := e.(type) {
			case conformance.Frame:
				w.receive(datapath.Injection{InPort: e.Port, Frame: e.Bytes})
			case conformance.Advance:
				w.advance(e.By)
			case conformance.Commit:
				w.commit(e.Bundle)
			}
			if w.IntN(10) == 0 {
				w.disturb()
			}
		}
		w.agree()
		spared += w.cached.Remembered()
		require.Zero(t, w.ordinary.Remembered())
		if t.Failed() {
			t.Fatalf("case %d", seed)
		}
	}
	require.Greater(t, spared, uint64(5_000))
	t.Log("passes spared:", spared)
}
