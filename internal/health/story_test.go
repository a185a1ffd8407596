package health

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// epoch is when the tests begin.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// TestStories tells what the tracker does, file by file; -rewrite writes the answers anew. The commands are
//
//	watch rise=N fall=N initial=down|rise|up [seed=up|down]   begin
//	watch unprobed                                            begin with a member of type none
//	probe WORD...                                             one result every second, with what each did
//	rule rise=N fall=N                                        change the counts
//	admin drained|enabled                                     the operator's word
//	status                                                    the whole status
//
// The words are ok; refused, timeout, 503 for failures; lost for a probe that the node could not send.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/tracker", func(t *testing.T, path string) {
		s := story{now: epoch}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type story struct {
	tracker Tracker
	now     time.Time
}

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "watch":
		s.tracker = watched(t, d, s.now)
		return s.tracker.Status().String()
	case "probe":
		var out strings.Builder
		for _, word := range d.CmdArgs {
			out.WriteString(s.probe(t, word.Key))
		}
		return out.String()
	case "rule":
		s.tracker.SetRule(rule(t, d))
		return s.tracker.Status().String()
	case "admin":
		var a model.AdminState
		require.NoError(t, a.UnmarshalText([]byte(d.CmdArgs[0].Key)))
		s.tracker.SetAdmin(a)
		return s.tracker.Status().String()
	case "status":
		return whole(s.tracker.Status())
	}
	t.Fatalf("%s: no such command: %s", d.Pos, d.Cmd)
	return ""
}

func watched(t *testing.T, d *datadriven.TestData, now time.Time) Tracker {
	if d.HasArg("unprobed") {
		return Unprobed(now)
	}
	seeds := map[string]Seed{"": Unknown, "up": SeenUp, "down": SeenDown}
	seed, ok := seeds[arg(d, "seed")]
	require.True(t, ok, d.Pos)
	return NewTracker(rule(t, d), seed, now)
}

func rule(t *testing.T, d *datadriven.TestData) (r Rule) {
	var err error
	r.Rise, err = strconv.Atoi(arg(d, "rise"))
	require.NoError(t, err, d.Pos)
	r.Fall, err = strconv.Atoi(arg(d, "fall"))
	require.NoError(t, err, d.Pos)
	if initial := arg(d, "initial"); initial != "" {
		require.NoError(t, r.Initial.UnmarshalText([]byte(initial)), d.Pos)
	}
	return r
}

func arg(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals[0]
		}
	}
	return ""
}

// resultOf returns the result that a word stands for.
func resultOf(word string) (Result, bool) {
	r, ok := map[string]Result{
		"ok":      {Outcome: Passed, Latency: 2 * time.Millisecond},
		"refused": {Outcome: Refused, Detail: "connection refused", Latency: time.Millisecond},
		"timeout": {Outcome: TimedOut, Detail: "timeout after 1s", Latency: time.Second},
		"503":     {Outcome: Unwanted, Detail: "status 503, want 200-299", Latency: 3 * time.Millisecond},
		"lost":    {Outcome: NotProbed, Detail: "not probed: 10.20.0.253 is not an address of this node"},
	}[word]
	return r, ok
}

func (s *story) probe(t *testing.T, word string) string {
	r, ok := resultOf(word)
	require.True(t, ok, "no such result: %s", word)
	s.now = s.now.Add(time.Second)
	change := s.tracker.Observe(r, s.now)
	status := s.tracker.Status()
	line := fmt.Sprintf("%4s %-8s %-4s", s.now.Sub(epoch), word, status.State)
	if status.Undecided {
		line += " undecided"
	}
	if change.Happened() {
		line += " " + change.String()
	}
	return strings.TrimRight(line, " ") + "\n"
}

// whole writes out a status, field by field.
func whole(s Status) string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return t.Sub(epoch).String()
	}
	return fmt.Sprintf(`state        %s (%s) since %s, undecided: %t, serves: %t
last         %s, %d in a row, took %s, at %s
last error   %q at %s
counters     %d probes, %d failures, %d not probed, %d transitions
admin        %s
`, s.State, s.Evidence, at(s.Since), s.Undecided, s.Serves(), s.Last, s.Consecutive, s.Latency, at(s.LastProbe),
		s.LastError, at(s.LastErrorAt), s.Probes, s.Failures, s.NotProbed, s.Transitions, s.Admin)
}
