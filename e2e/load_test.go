//go:build e2e && linux

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// load is requests by several workers, one after the other each, and how they ended.
type load struct {
	client  *http.Client
	url     string
	stopped chan struct{}
	workers sync.WaitGroup

	mu      sync.Mutex
	left    int // how many may still begin
	answers []answer
}

// answer is how a request ended.
type answer struct {
	begun, ended time.Time
	body         string
	err          error
}

const (
	workers = 4
	pause   = 3 * time.Millisecond // between two requests of a worker
	forever = 1 << 30
)

// begin starts n requests, or as many as there are until stop.
func begin(client *http.Client, url string, n int) *load {
	l := &load{client: client, url: url, left: n, stopped: make(chan struct{})}
	for range workers {
		l.workers.Go(l.work)
	}
	return l
}

func (l *load) work() {
	for l.more() {
		a := get(l.client, l.url)
		l.mu.Lock()
		l.answers = append(l.answers, a)
		l.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-l.stopped:
		}
	}
}

func (l *load) more() bool {
	select {
	case <-l.stopped:
		return false
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left--
	return l.left >= 0
}

// running tells whether requests are still to begin.
func (l *load) running() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left > 0
}

// wait returns when all have ended.
func (l *load) wait() *result {
	l.workers.Wait()
	return sum(l.answers)
}

// stop begins no more and waits for those that have begun.
func (l *load) stop() *result {
	close(l.stopped)
	return l.wait()
}

// firstSuccess waits until a request that began after a moment is answered, and returns when it was.
func (l *load) firstSuccess(after time.Time, limit time.Duration) (at time.Time, ok bool) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		i := slices.IndexFunc(l.answers, func(a answer) bool { return a.err == nil && a.begun.After(after) })
		if i >= 0 {
			at, ok = l.answers[i].ended, true
		}
		l.mu.Unlock()
		if ok {
			return at, true
		}
	}
	return time.Time{}, false
}

func get(client *http.Client, url string) answer {
	a := answer{begun: time.Now()}
	r, err := client.Get(url)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if a.body = string(body); err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", r.Status, body)
		}
	}
	a.err, a.ended = err, time.Now()
	return a
}

// result is what a load came to.
type result struct {
	answers []answer
	failed  []answer
	byHost  map[string]int
	outage  time.Duration // the longest time without an answer while requests were made
	slowest time.Duration // of those that were answered
}

var answerLine = regexp.MustCompile(`^backend=(\S+)  time=.+ client=(\S+):(\d+)  served=(\S+)  req=\d+\n$`)

func sum(answers []answer) *result {
	r := &result{answers: answers, byHost: map[string]int{}}
	slices.SortFunc(answers, func(a, b answer) int { return a.ended.Compare(b.ended) })
	var last time.Time
	for i, a := range answers {
		if i == 0 {
			last = a.begun
		}
		if a.err != nil {
			r.failed = append(r.failed, a)
			continue
		}
		r.outage, last = max(r.outage, a.ended.Sub(last)), a.ended
		r.slowest = max(r.slowest, a.ended.Sub(a.begun))
		if m := answerLine.FindStringSubmatch(a.body); m != nil {
			r.byHost[m[1]]++
		}
	}
	return r
}

// String says how many failed, and what of, and how long it was still.
func (r *result) String() string {
	return fmt.Sprintf("%d of %d failed, slowest %s, longest silence %s", len(r.failed), len(r.answers), ms(r.slowest), ms(r.outage))
}

// faults are the different errors, for a failure's text.
func (r *result) faults() string {
	var all []string
	for _, a := range r.failed {
		all = append(all, a.err.Error())
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// shares is the spread over the hosts in one line.
func (r *result) shares() string {
	var all []string
	for host, n := range r.byHost {
		all = append(all, fmt.Sprintf("%s %d", host, n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
