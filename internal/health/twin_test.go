package health

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// A twin is the slow and obvious tracker: it keeps every result and looks at the last ones. It knows nothing of counts.
type twin struct {
	rule    Rule
	state   State
	seed    Seed
	results []Result // those that say anything
}

func newTwin(rule Rule, seed Seed) *twin {
	w := &twin{rule: rule, seed: seed}
	if seed == SeenUp || seed == Unknown && rule.Initial == model.InitialUp {
		w.state = Up
	}
	return w
}

func (w *twin) observe(r Result) State {
	if r.Outcome == NotProbed {
		return w.state
	}
	w.results = append(w.results, r)
	switch {
	case w.state == Up && w.lastAre(w.rule.Fall, false):
		w.state = Down
	case w.state == Down && w.lastAre(w.rule.Rise, true):
		w.state = Up
	case w.state == Down && w.rule.Initial == model.InitialDown && w.seed == Unknown && r.Outcome == Passed && w.successes() == 1:
		w.state = Up
	}
	return w.state
}

// lastAre reports whether there are n last results and all are successes, or all failures.
func (w *twin) lastAre(n int, success bool) bool {
	if len(w.results) < n {
		return false
	}
	for _, r := range w.results[len(w.results)-n:] {
		if (r.Outcome == Passed) != success {
			return false
		}
	}
	return true
}

func (w *twin) successes() (n int) {
	for _, r := range w.results {
		if r.Outcome == Passed {
			n++
		}
	}
	return n
}

// run returns how many of the last results are alike.
func (w *twin) run() (n int) {
	for n < len(w.results) && w.lastAre(n+1, w.results[len(w.results)-1].Outcome == Passed) {
		n++
	}
	return n
}

var outcomes = []Outcome{NotProbed, Passed, Refused, TimedOut, Unreachable, Broken, Unwanted, Failed}

func randomRule(r *rand.Rand) Rule {
	return Rule{Rise: 1 + r.IntN(4), Fall: 1 + r.IntN(4), Initial: model.InitialState(r.IntN(3))}
}

// hold feeds both trackers the same results and compares them after each.
func hold(t *testing.T, rule Rule, seed Seed, results []Outcome) {
	fast, slow := NewTracker(rule, seed, epoch), newTwin(rule, seed)
	if fast.Status().State != slow.state {
		t.Fatalf("%+v, seed %s: starts %s, want %s", rule, seed, fast.Status().State, slow.state)
	}
	for i, o := range results {
		before, at := fast.Status(), epoch.Add(time.Duration(i+1)*time.Second)
		change := fast.Observe(Result{Outcome: o}, at)
		want := before // what the twin says, and what follows from its words
		want.State = slow.observe(Result{Outcome: o})
		want.Consecutive = slow.run()
		if want.State != before.State {
			want.Since, want.Evidence = at, Probed
			want.Transitions++
		}
		got := fast.Status()
		if got.State != want.State || got.Consecutive != want.Consecutive || got.Since != want.Since ||
			got.Transitions != want.Transitions || change.Happened() != (before.State != want.State) ||
			got.Probes != uint64(i+1) || got.Probes-got.Failures-got.NotProbed != uint64(slow.successes()) ||
			change.Happened() && (got.Undecided || got.Evidence != Probed) {
			t.Fatalf("%+v, seed %s, results %v:\ngot  %s\nwant %s, %d in a row", rule, seed, results[:i+1], got, want.State, want.Consecutive)
		}
	}
}

func TestTrackerAgreesWithItsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 3000 {
		bias, results := r.Float64(), make([]Outcome, 40)
		for i := range results {
			if results[i] = outcomes[r.IntN(len(outcomes))]; r.Float64() < bias {
				results[i] = Passed
			}
		}
		hold(t, randomRule(r), Seed(r.IntN(3)), results)
	}
}

// Every sequence of eight results, under every small rule and every seed.
func TestTrackerAgreesWithItsTwinOnAllShortHistories(t *testing.T) {
	const length = 8
	for history := range 1 << length {
		results := make([]Outcome, length)
		for i := range results {
			results[i] = Refused
			if history>>i&1 == 1 {
				results[i] = Passed
			}
		}
		for n := range 27 {
			rule := Rule{Rise: 1 + n%3, Fall: 1 + n/3%3, Initial: model.InitialState(n / 9)}
			for seed := range Seed(3) {
				hold(t, rule, seed, results)
			}
		}
	}
}

func FuzzTracker(f *testing.F) {
	f.Add(uint8(2), uint8(3), uint8(0), uint8(0), []byte{1, 2, 2, 2, 1, 1, 0})
	f.Add(uint8(1), uint8(1), uint8(1), uint8(1), []byte{0, 0, 3, 1})
	f.Fuzz(func(t *testing.T, rise, fall, initial, seed uint8, history []byte) {
		rule := Rule{Rise: 1 + int(rise%9), Fall: 1 + int(fall%9), Initial: model.InitialState(initial % 3)}
		results := make([]Outcome, min(len(history), 200))
		for i := range results {
			results[i] = outcomes[int(history[i])%len(outcomes)]
		}
		hold(t, rule, Seed(seed%3), results)
	})
}

// What the operator says is no part of the health: whatever he says between the results, they lead to the same.
func TestAdminChangesNothingButItself(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		rule := randomRule(r)
		plain, steered := NewTracker(rule, Unknown, epoch), NewTracker(rule, Unknown, epoch)
		for i := range 30 {
			admin := model.AdminState(r.IntN(2))
			steered.SetAdmin(admin)
			result, at := Result{Outcome: outcomes[r.IntN(len(outcomes))]}, epoch.Add(time.Duration(i)*time.Second)
			require.Equal(t, plain.Observe(result, at), steered.Observe(result, at))
			want, got := plain.Status(), steered.Status()
			require.Equal(t, admin, got.Admin)
			require.Equal(t, want.State == Up && admin == model.Enabled, got.Serves())
			got.Admin = want.Admin
			require.Equal(t, want, got)
		}
	}
}

// A tracker is a value: what its copy sees does not reach it.
func TestCopiesOfATrackerAreApart(t *testing.T) {
	a := NewTracker(Rule{Rise: 1, Fall: 1, Initial: model.InitialUp}, Unknown, epoch)
	b := a
	require.True(t, b.Observe(Result{Outcome: Refused}, epoch).Happened())
	require.Equal(t, Up, a.Status().State)
}

func TestWords(t *testing.T) {
	require.Equal(t, "down up state(2)", Down.String()+" "+Up.String()+" "+State(2).String())
	require.Equal(t, "assumed adopted probed", Assumed.String()+" "+Adopted.String()+" "+Probed.String())
	require.Equal(t, "unknown up down", Unknown.String()+" "+SeenUp.String()+" "+SeenDown.String())
	require.Equal(t, "no change", Transition{From: Up, To: Up}.String())
	require.Equal(t, "passed", Result{Outcome: Passed}.String())
	for _, o := range outcomes {
		text, err := o.MarshalText()
		require.NoError(t, err)
		require.NotContains(t, string(text), "(")
	}
	require.Contains(t, Outcome(len(outcomes)).String(), "outcome(")
}
