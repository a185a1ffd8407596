package scenarios

import (
	"fmt"
	"slices"
	"time"

	"hpnn/testbed"
)

// asking is what get and ping do: who is asked, how often, and how the answers are told.
type asking struct {
	count  int
	every  time.Duration // 0: one after another
	atOnce bool          // all of them
	limit  time.Duration // within which each is answered or not
	ports  *ports        // that it leaves from, if it is not told; nil if it has none
	begin  func() (testbed.Request, error)
	show   func(testbed.Answer) string // of one
	group  func(testbed.Answer) string // of one among many
}

// ask asks and prints the answers.
func (t *story) ask(q asking) error {
	j := &job{asking: q}
	if err := t.finish(j); err != nil {
		return err
	}
	t.print("%s", j.tell())
	return nil
}

// finish lets a job come to its end.
func (t *story) finish(j *job) error {
	t.jobs = append(t.jobs, j)
	defer func() { t.jobs = slices.DeleteFunc(t.jobs, func(o *job) bool { return o == j }) }()
	j.due = max(j.due, t.bed.Now())
	if err := j.turn(t); err != nil {
		return err
	}
	limit := time.Minute + time.Duration(len(j.waiting)+j.count)*max(j.limit, j.every)
	if !t.until(j.over, limit) {
		return fmt.Errorf("no end after %v", limit)
	}
	return nil
}

// job is an asking under way, perhaps in the background.
type job struct {
	asking
	name    string
	endless bool
	stopped bool
	begun   int
	due     time.Duration // when the next begins, if it is not for the one before to end
	waiting []testbed.Request
	answers []testbed.Answer // since they were last told
}

// more reports whether there is something left to begin.
func (j *job) more() bool { return !j.stopped && (j.endless || j.begun < j.count) }

// over reports whether everything has been begun and answered.
func (j *job) over() bool {
	j.collect()
	return !j.more() && len(j.waiting) == 0
}

// idle reports whether the next may begin.
func (j *job) idle() bool {
	j.collect()
	return j.more() && j.every == 0 && len(j.waiting) == 0
}

// next is when the job wants its turn; false if that does not depend on time.
func (j *job) next() (time.Duration, bool) { return j.due, j.more() && j.every > 0 }

// turn begins what is due.
func (j *job) turn(t *story) error {
	for j.collect(); j.more() && j.due <= t.bed.Now() && (j.every > 0 || j.atOnce || len(j.waiting) == 0); j.begun++ {
		r, err := j.begin()
		if err != nil {
			return err
		}
		j.waiting = append(j.waiting, r)
		j.due += j.every
	}
	return nil
}

// collect takes the answers that are there.
func (j *job) collect() {
	j.waiting = slices.DeleteFunc(j.waiting, func(r testbed.Request) bool {
		if r.Done() {
			j.answers = append(j.answers, r.Answer())
		}
		return r.Done()
	})
}

// tell says how it went since it was last asked.
func (j *job) tell() string {
	answers := j.answers
	j.answers = nil
	if !j.endless && j.count == 1 && len(answers) == 1 {
		return j.show(answers[0])
	}
	counts := map[string]int{}
	for _, a := range answers {
		counts[j.group(a)]++
	}
	if len(counts) == 0 {
		return "nothing"
	}
	return tally(counts)
}
