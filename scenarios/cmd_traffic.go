package scenarios

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"hpnn/testbed"
)

// asking is what get and ping do: who is asked, how often, and how the answers are told.
type asking struct {
	count  int
	every  time.Duration // 0: one after another
	atOnce bool          // all of them
	limit  time.Duration // within which each is answered or not
	begin  func() (testbed.Request, error)
	show   func(testbed.Answer) string // of one
	group  func(testbed.Answer) string // of one among many
}

var getCommand = command{
	name:  "get",
	usage: "get HOST URL [xN] [every=TIME] [together] [timeout=TIME] [from-port=PORT] [reuse] [ttl=N]",
	about: `HOST requests URL, N times one after another, one every TIME, or all together, each by a connection of its own, and gives
up after the timeout, 3 s. One answer is shown with who gave it; of several, how many each member gave, and how many had no answer or
were refused.

Connections leave from ports 40000, 40001, ... of each host, so that the same members are chosen wherever the story is
told. With from-port they leave from that port and those above it; reuse takes a port that another connection still holds.`,
	example: `get client http://192.168.5.21/
get client http://192.168.5.21/ x100
get cli2 http://10.20.0.100/healthz`,
	run: func(t *story, a *args) error {
		q, err := t.parseGet(a)
		if err != nil {
			return err
		}
		return t.ask(q)
	},
}

var pingCommand = command{
	name:    "ping",
	usage:   "ping HOST ADDRESS [xN] [ttl=N]",
	about:   `HOST asks ADDRESS for an echo, and waits a second for it. The TTL shown is that of the answer.`,
	example: `ping client 192.168.5.21`,
	run: func(t *story, a *args) error {
		q, err := t.parsePing(a)
		if err != nil {
			return err
		}
		return t.ask(q)
	},
}

// parseGet reads the words behind get.
func (t *story) parseGet(a *args) (asking, error) {
	host, url := a.word("HOST"), a.word("URL")
	q := asking{count: a.times(), every: a.duration("every"), limit: a.duration("timeout"), show: showAnswer, group: groupAnswer}
	if q.limit == 0 {
		q.limit = 3 * time.Second
	}
	q.atOnce = a.has("together")
	o := testbed.GetOptions{Timeout: q.limit, Reuse: a.has("reuse"), TTL: uint8(a.number("ttl", 1, 255))}
	from := a.number("from-port", 1, 65535)
	if err := a.done(); err != nil {
		return q, err
	}
	if _, err := t.machine(host); err != nil {
		return q, err
	}
	if from != 0 {
		q.show = showPort
	}
	next := uint16(from)
	q.begin = func() (testbed.Request, error) {
		if from == 0 {
			next = t.port(host)
		}
		o.LocalPort = next
		next++
		return t.bed.Hosts().Get(host, url, o)
	}
	return q, nil
}

// Local ports that connections leave from.
const (
	firstLocal = 40000
	lastLocal  = 59999
)

// port is the local port that a host connects from next.
func (t *story) port(host string) uint16 {
	p := t.local[host]
	if p == 0 || p == lastLocal {
		p = firstLocal
	}
	t.local[host] = p + 1
	return p
}

func (t *story) parsePing(a *args) (asking, error) {
	host, to := a.word("HOST"), a.address("ADDRESS")
	q := asking{count: a.times(), limit: time.Second, show: showEcho, group: showEcho}
	o := testbed.PingOptions{Timeout: q.limit, TTL: uint8(a.number("ttl", 1, 255))}
	if err := a.done(); err != nil {
		return q, err
	}
	q.begin = func() (testbed.Request, error) { return t.bed.Hosts().Ping(host, to, o) }
	return q, nil
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

// tally is counts as "be1(3) be2(4)".
func tally(counts map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s(%d)", k, counts[k]))
	}
	return strings.Join(parts, " ")
}

// The parts of a member's answer.
var (
	backend = regexp.MustCompile(`(?m)(?:^|\s)backend=(\S+)`)
	who     = regexp.MustCompile(`client=(\S+?):(\d+)\s+served=(\S+)`)
)

// showAnswer is the answer to one request.
func showAnswer(a testbed.Answer) string { return show(a, "client=$1 served=$3") }

// showPort is the same with the client's port.
func showPort(a testbed.Answer) string { return show(a, "client=$1:$2 served=$3") }

func show(a testbed.Answer, form string) string {
	if a.Err != nil {
		return fault(a)
	}
	line, more, _ := strings.Cut(a.Body, "\n")
	text := fmt.Sprintf("%d %s", a.Status, line)
	if m := backend.FindStringSubmatch(a.Body); m != nil {
		text = fmt.Sprintf("%d backend=%s", a.Status, m[1])
		if n := strings.Count(more, "\n"); n > 0 {
			text += fmt.Sprintf(" in %d lines", n+1)
		}
	}
	if m := who.FindStringSubmatchIndex(line); m != nil {
		text += " " + string(who.ExpandString(nil, form, line, m))
	}
	return text
}

// groupAnswer is what an answer counts as.
func groupAnswer(a testbed.Answer) string {
	m := backend.FindStringSubmatch(a.Body)
	switch {
	case a.Err != nil:
		return fault(a)
	case a.Status == 200 && m != nil:
		return m[1]
	}
	return fmt.Sprint(a.Status)
}

// fault is why there is no answer, or no whole one.
func fault(a testbed.Answer) string {
	text := faultOf(a.Err)
	if a.Status != 0 {
		text += " in the middle"
	}
	return text
}

func faultOf(err error) string {
	for _, k := range []struct {
		is   error
		text string
	}{
		{syscall.ECONNREFUSED, "refused"}, {syscall.ECONNRESET, "reset"}, {syscall.ETIMEDOUT, "no answer"},
		{syscall.EHOSTUNREACH, "unreachable"}, {syscall.ENETUNREACH, "no route"}, {syscall.EADDRINUSE, "port in use"},
		{io.ErrUnexpectedEOF, "broken off"}, {io.EOF, "closed"},
	} {
		if errors.Is(err, k.is) {
			return k.text
		}
	}
	return err.Error()
}

func showEcho(a testbed.Answer) string {
	if a.Err != nil {
		return faultOf(a.Err)
	}
	return fmt.Sprintf("echo ttl=%d", a.TTL)
}

var backgroundCommand = command{
	name:  "background",
	usage: "background NAME (get|ping) ...",
	about: `Begins what get or ping would do, and goes on. With every=TIME and without xN it does not end before stop.`,
	example: `background load get client http://192.168.5.21/ every=50ms
advance 5s
tally load
stop load`,
	run: runBackground,
}

func runBackground(t *story, a *args) error {
	name, what := a.word("NAME"), a.word("get or ping")
	repeats := a.options["every"] != "" && !slices.ContainsFunc(a.words, times.MatchString)
	parse := map[string]func(*args) (asking, error){"get": t.parseGet, "ping": t.parsePing}[what]
	if parse == nil {
		a.fail("%q does not run in the background: get and ping do", what)
		return a.done()
	}
	q, err := parse(a)
	if err != nil {
		return err
	}
	if t.job(name) != nil {
		return fmt.Errorf("there is a %s already: choose another name", name)
	}
	j := &job{asking: q, name: name, endless: repeats, due: t.bed.Now()}
	t.jobs = append(t.jobs, j)
	return j.turn(t)
}

func (t *story) job(name string) *job {
	for _, j := range t.jobs {
		if j.name == name {
			return j
		}
	}
	return nil
}

// takeJob reads the name of what runs in the background.
func (t *story) takeJob(a *args) (*job, error) {
	name := a.word("NAME")
	if err := a.done(); err != nil {
		return nil, err
	}
	if j := t.job(name); j != nil {
		return j, nil
	}
	return nil, fmt.Errorf("nothing called %q runs in the background", name)
}

var waitCommand = command{
	name:  "wait",
	usage: "wait NAME",
	about: `Waits for the end of what runs in the background and prints what get or ping would have printed.`,
	example: `background slow get client http://192.168.5.21/slow?seconds=5 timeout=1m
advance 2s
wait slow`,
	run: func(t *story, a *args) error {
		j, err := t.takeJob(a)
		if err != nil {
			return err
		}
		if j.endless {
			return fmt.Errorf("%s does not end by itself: stop it", j.name)
		}
		return t.end(j)
	},
}

// end lets a job come to its end and prints what it has to tell.
func (t *story) end(j *job) error {
	t.jobs = slices.DeleteFunc(t.jobs, func(o *job) bool { return o == j })
	if err := t.finish(j); err != nil {
		return err
	}
	t.print("%s", j.tell())
	return nil
}

var tallyCommand = command{
	name:    "tally",
	usage:   "tally NAME",
	about:   `Prints the answers to what runs in the background that came since the last tally, counted by who gave them.`,
	example: backgroundCommand.example,
	run: func(t *story, a *args) error {
		j, err := t.takeJob(a)
		if err != nil {
			return err
		}
		j.collect()
		t.print("%s", j.tell())
		return nil
	},
}

var stopCommand = command{
	name:    "stop",
	usage:   "stop NAME",
	about:   `Begins nothing more, waits for the answers still to come, and prints those since the last tally.`,
	example: backgroundCommand.example,
	run: func(t *story, a *args) error {
		j, err := t.takeJob(a)
		if err != nil {
			return err
		}
		j.stopped = true
		return t.end(j)
	},
}

var servedCommand = command{
	name:    "served",
	usage:   "served HOST [PATH]",
	about:   `Prints how many requests for PATH, "/" if it is not given, have reached the web server of HOST since it started.`,
	example: `served be1 /healthz`,
	run: func(t *story, a *args) error {
		host, path := a.word("HOST"), "/"
		if len(a.words) > 0 {
			path = a.word("PATH")
		}
		if err := a.done(); err != nil {
			return err
		}
		n, err := t.bed.Hosts().Served(host, path)
		if err != nil {
			return err
		}
		t.print("%d", n)
		return nil
	},
}
