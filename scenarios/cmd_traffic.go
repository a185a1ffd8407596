package scenarios

import (
	"fmt"
	"slices"
	"time"

	"hpnn/testbed"
)

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
	q.ports = &ports{from: firstLocal, to: lastLocal}
	q.begin = func() (testbed.Request, error) {
		if from == 0 {
			next = t.port(host, q.ports)
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
	lastLocal  = 49999
	firstLoad  = 50000 // of what does not end by itself: how often it has asked by then must not matter to others
	lastLoad   = 59999
)

// ports are those that connections leave from.
type ports struct{ from, to uint16 }

// localPort is the next of a host's.
type localPort struct {
	host string
	ports
}

// port is the local port that a host connects from next.
func (t *story) port(host string, among *ports) uint16 {
	at := localPort{host, *among}
	p := t.local[at]
	if p == 0 || p > among.to {
		p = among.from
	}
	t.local[at] = p + 1
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
	if repeats && q.ports != nil {
		*q.ports = ports{from: firstLoad, to: lastLoad}
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
	like:    likeLoad,
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
	like:    likeLoad,
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
	like:    likeCount,
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
