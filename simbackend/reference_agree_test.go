package simbackend_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

var randomPrograms = flag.Int("programs", 300, "how many random programs are compared with the reference; a tenth of it in short tests")

// both is the simulator and its twin.
type both struct {
	*testing.T
	sw   *simbackend.Switch
	twin *reference
}

func newBoth(t *testing.T) *both {
	var ports []simbackend.Port
	var numbers []openflow.PortNo
	for n := openflow.PortNo(1); n <= 4; n++ {
		ports, numbers = append(ports, simbackend.Port{Number: n, Name: fmt.Sprint("p", n)}), append(numbers, n)
	}
	sw, err := simbackend.New(simbackend.Config{Ports: ports, ConntrackSweep: time.Second})
	require.NoError(t, err)
	return &both{t, sw, newReference(numbers...)}
}

// event is what happens to both: a datapath.Injection, an openflow.FlowMod, a number of seconds that pass, a datapath.ConnFilter of
// what is flushed.
type event any

// happen lets something happen and says in words where the two differ in what leaves.
func (b *both) happen(e event) (out []datapath.Output, difference string) {
	switch e := e.(type) {
	case datapath.Injection:
		want, got := b.twin.receive(e), outputs(b.sw, e)
		if b.twin.unclear = b.twin.unclear || b.sw.Aborts() > 0; b.twin.unclear { // ovs-vswitchd ends there
			return want, ""
		}
		return want, differ("frame", shownOutputs(want), shownOutputs(got))
	case openflow.FlowMod:
		if err := b.sw.Commit(b.Context(), openflow.Bundle{e}); err != nil {
			return nil, err.Error()
		}
		b.twin.modify(e)
	case int:
		b.twin.advance(e)
		b.sw.Advance(b.twin.now)
	case datapath.ConnFilter:
		b.twin.flush(e)
		require.NoError(b, b.sw.Flush(b.Context(), e))
	}
	return nil, ""
}

func shownOutputs(out []datapath.Output) (lines []string) {
	for _, o := range out {
		lines = append(lines, fmt.Sprintf("%v: %x", o.Port, o.Frame))
	}
	return lines
}

// left says where the two differ in flows, with counters and ages, and in connections.
func (b *both) left() string {
	flows, err := b.sw.Flows(b.Context())
	require.NoError(b, err)
	if want := b.twin.flows(); !slices.EqualFunc(want, flows, sameEntry) {
		return differ("flow", shownEntries(want), shownEntries(flows))
	}
	conns, err := b.sw.Connections(b.Context(), datapath.ConnFilter{})
	require.NoError(b, err)
	return differ("connection", shownConns(b.twin.connections()), shownConns(conns))
}

func sameEntry(a, b openflow.FlowEntry) bool { return a.Stats == b.Stats && a.Flow.Equal(b.Flow) }

func shownEntries(entries []openflow.FlowEntry) (lines []string) {
	for _, e := range entries {
		lines = append(lines, fmt.Sprintf("%v %+v", e.Flow, e.Stats))
	}
	return lines
}

func shownConns(conns []datapath.Conn) (lines []string) {
	for _, c := range conns {
		lines = append(lines, fmt.Sprintf("%+v", c))
	}
	slices.Sort(lines)
	return lines
}

// differ says how two lists differ first.
func differ(what string, want, got []string) string {
	for i := range max(len(want), len(got)) {
		line := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return "none"
		}
		if line(want) != line(got) {
			return fmt.Sprintf("%s %d\nreference: %s\nsimulator: %s", what, i, line(want), line(got))
		}
	}
	return ""
}

// replay says how the two differ when these things happen.
func replay(t *testing.T, events []event) string {
	b := newBoth(t)
	for _, e := range events {
		if _, d := b.happen(e); d != "" {
			return d
		}
	}
	if b.twin.unclear {
		return ""
	}
	return b.left()
}

// shortest leaves out events as long as the two differ.
func shortest(t *testing.T, events []event) []event {
	for n := len(events) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(events); {
			if less := slices.Delete(slices.Clone(events), i, i+n); replay(t, less) != "" {
				events = less
			} else {
				i += n
			}
		}
	}
	return events
}

// story is what happens to a random program.
type story struct {
	author
	*both
	events  []event
	rules   []openflow.Flow
	past    []sending
	answers []sending // not sent yet
	sent    int       // frames that came in
	left    int       // of those, that something left for
}

// tell lets a program meet frames. It stops where the two differ, and fails.
func tell(t *testing.T, g dice, frames int) *story {
	s := &story{author: newAuthor(g), both: newBoth(t)}
	s.rules = s.author.rules()
	for _, f := range s.rules {
		if s.IntN(10) > 0 { // the others come later
			s.happen(openflow.FlowMod{Flow: f})
		}
	}
	for s.sent < frames && !s.twin.unclear {
		for in, n := s.next().injection(), s.IntN(1+s.IntN(8)); n >= 0; n-- {
			s.happen(in)
		}
		switch s.IntN(40) {
		case 0, 1:
			s.happen(s.change())
		case 2, 3:
			s.happen(s.IntN(3))
		case 4:
			s.happen(datapath.ConnFilter{Zone: uint16(s.IntN(3)), Orig: datapath.TupleFilter{Src: s.addr()}})
		case 7, 8, 9:
			s.check(s.both.left())
		}
	}
	s.check(s.both.left())
	return s
}

func (s *story) check(difference string) {
	if difference == "" || s.twin.unclear {
		return
	}
	s.Logf("%s\nafter %d events, of which these matter:", difference, len(s.events))
	few := shortest(s.T, s.events)
	for _, e := range few {
		if in, ok := e.(datapath.Injection); ok {
			s.Logf("port %v: %x", in.InPort, in.Frame)
		} else {
			s.Logf("%T %v", e, e)
		}
	}
	s.Fatal(replay(s.T, few))
}

func (s *story) happen(e event) {
	s.events = append(s.events, e)
	out, difference := s.both.happen(e)
	s.check(difference)
	if _, ok := e.(datapath.Injection); !ok {
		return
	}
	if s.sent++; len(out) > 0 {
		s.left++
	}
	for _, o := range out {
		for _, what := range dissect(o.Frame).names() {
			s.twin.met[what]++
		}
		if m, ok := s.answer(o.Frame); ok && o.Port <= 4 && s.IntN(4) > 0 {
			s.answers = append(s.answers, sending{o.Port, m})
		}
	}
}

// next is a new frame, an answer, one that came before, or nearly one that came before.
func (s *story) next() (m sending) {
	switch n := len(s.answers); {
	case n > 0 && s.IntN(2) == 0:
		i := max(0, n-1-s.IntN(4))
		m = s.answers[i]
		s.answers = slices.Delete(s.answers, i, i+1)
	case len(s.past) > 0 && s.IntN(3) > 0:
		m = s.past[max(0, len(s.past)-1-s.IntN(1+s.IntN(30)))]
		if s.IntN(4) == 0 {
			m.message = s.changed(m.message)
		} else if s.IntN(8) == 0 {
			m.port = openflow.PortNo(1 + s.IntN(4))
		}
	default:
		m = sending{openflow.PortNo(1 + s.IntN(4)), s.opening(s.kind)}
	}
	s.past = append(s.past, m)
	return m
}

// change is a rule that comes, goes or does something else.
func (s *story) change() openflow.FlowMod {
	i := s.IntN(len(s.rules))
	old := s.rules[i]
	switch s.IntN(5) {
	case 0:
		s.rules[i] = s.rule(int(old.Table), int(old.Priority))
		return openflow.FlowMod{Command: openflow.DeleteStrict, Flow: old}
	case 1: // as it was, or another in the place of one that is gone
		return openflow.FlowMod{Command: openflow.Add, Flow: old}
	case 2: // all that were learned in a table
		return openflow.FlowMod{Command: openflow.Delete, Flow: openflow.Flow{Table: old.Table, Match: openflow.Match{}.With(openflow.EthType, openflow.U64(openflow.EthTypeARP))}}
	default:
		again := s.rule(int(old.Table), int(old.Priority))
		for range 20 {
			if again.Match.Equal(old.Match) {
				break
			}
			again = s.rule(int(old.Table), int(old.Priority))
		}
		if !again.Match.Equal(old.Match) { // one in whose place it comes
			s.happen(openflow.FlowMod{Command: openflow.DeleteStrict, Flow: old})
			s.rules[i] = again
			return openflow.FlowMod{Command: openflow.Add, Flow: again}
		}
		return openflow.FlowMod{Command: openflow.ModifyStrict, Flow: again}
	}
}

// told is what came of some stories.
type told struct {
	stories, unclear int
	sent, left       int // frames that came in, and those that something left for
	spared           uint64
	met              map[string]int
}

func (all *told) add(s *story) {
	all.stories++
	if s.twin.unclear {
		all.unclear++
	}
	all.sent, all.left, all.spared = all.sent+s.sent, all.left+s.left, all.spared+s.sw.Remembered()
	for what, n := range s.twin.met {
		all.met[what] += n
	}
}

// TestAgreesWithReference runs random programs on random talks. Most frames must leave, many must meet the simulator's cache, and all
// that the reference knows must come up.
func TestAgreesWithReference(t *testing.T) {
	n := *randomPrograms
	if testing.Short() {
		n /= 10
	}
	all := told{met: map[string]int{}}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { all.add(tell(t, dice{rand.New(rand.NewPCG(seed, 7))}, 300)) })
	}
	if all.stories < n || n == 0 {
		return
	}
	t.Logf("%d frames, of %d something left; %d passes were spared; %d of %d stories are unclear", all.sent, all.left, all.spared, all.unclear, n)
	require.Greater(t, all.left, all.sent*7/10)
	require.Greater(t, all.spared, uint64(all.sent/5))
	require.LessOrEqual(t, all.unclear, max(1, n/20))
	if testing.Short() {
		return
	}
	for _, what := range slices.Sorted(maps.Keys(all.met)) {
		t.Log(what, all.met[what])
	}
	for _, what := range mustBeMet {
		require.GreaterOrEqual(t, all.met[what], 10, what)
	}
}

// mustBeMet is actions, what the tracker found, and frames that left.
var mustBeMet = []string{
	"CT", "CTClear", "ClearActions", "Clone", "DecTTL", "Exit", "GotoTable", "Learn", "Move", "Multipath", "OutputField", "Pop", "PopVLAN", "Push", "PushVLAN",
	"Resubmit", "SetField", "SetVLANPCP", "SetVLANVID", "TTL exceeded", "WriteActions", "WriteMetadata", "action set", "ct again",
	"ct_state=est|rpl|trk", "ct_state=est|rpl|trk|dnat", "ct_state=est|rpl|trk|snat", "ct_state=est|trk", "ct_state=est|trk|dnat", "ct_state=est|trk|snat",
	"ct_state=inv|trk", "ct_state=new|trk", "ct_state=new|trk|dnat", "ct_state=new|trk|snat", "forced", "replaced", "no mapping", "tuple taken",
	"learn added", "learn changed", "learn refreshed", "learn refused", "timed out",
	"arp", "tcp", "udp", "icmp", "tcp6", "udp6", "icmp6", "tagged", "tagged twice",
}

// FuzzReference takes the input for the decisions of a story.
func FuzzReference(f *testing.F) {
	for n := range 8 {
		f.Add([]byte(strings.Repeat("seed", n)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tell(t, dice{rand.New(newTape(b))}, 60)
	})
}
