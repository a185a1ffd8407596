package scenarios

import (
	"fmt"
	"strings"
	"time"

	"hpnn/internal/control"
	"hpnn/model"
	"hpnn/testbed"
)

var topologyCommand = command{
	name:  "topology",
	usage: "topology FILE",
	about: `Builds the site of a topology and starts its node, at time 0. Every declared host is there. Members
serve HTTP: "/" says who answered whom, "/healthz" 200 or 503, "/slow?seconds=N" a line a second. Behind the uplink of
a public segment is a machine called client, behind that of a private one the provider's gateway.

FILE is relative to the story. Indented lines are laid over the file: mappings are merged key by key, lists of
named things thing by thing, null takes a key away and remove: true a thing, and all else is replaced.`,
	example: `topology ../examples/hpnn.yaml
  pools:
  - {name: web, algorithm: maglev, members: [{name: be4, weight: 3}]}
until all up within 4s
slots`,
	input: true, early: true,
	run: func(t *story, a *args) error {
		file := a.word("FILE")
		if err := a.done(); err != nil {
			return err
		}
		topology, err := t.load(file, a.input)
		if err != nil {
			return err
		}
		return t.open(&topology)
	},
}

func (t *story) load(file, over string) (model.Topology, error) {
	if over == "" {
		return model.Load(t.near(file))
	}
	return patch(t.near(file), over)
}

var needsCommand = command{
	name:  "needs",
	usage: "needs FEATURE...",
	about: `Skips the story on a bed that lacks a feature. What the commands need is known: this is for what a story takes for
granted besides.`,
	example:   `needs virtual-time`,
	wordNeeds: featureWords(),
	run: func(_ *story, a *args) error {
		for _, w := range a.rest() {
			if _, err := testbed.ParseFeature(w); err != nil {
				a.fail("%w", err)
			}
		}
		return a.done()
	},
}

// featureWords lets the name of a feature need that feature.
func featureWords() map[string][]testbed.Feature {
	words := map[string][]testbed.Feature{}
	for _, f := range testbed.Features() {
		words[f.String()] = []testbed.Feature{f}
	}
	return words
}

var hostsCommand = command{
	name:    "hosts",
	usage:   "hosts",
	about:   `Lists the machines: name, address, port of the switch, and what each is for.`,
	example: `hosts`,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		var rows [][]string
		for _, m := range t.bed.Hosts().List() {
			rows = append(rows, []string{m.Name, m.Address.String(), m.MAC.String(), fmt.Sprintf("port %d", m.Port), m.Role.String()})
		}
		t.print("%s", table(rows))
		return nil
	},
}

var advanceCommand = command{
	name:    "advance",
	usage:   "advance TIME",
	about:   `Lets time pass: 500ms, 8s, 1d.`,
	example: `advance 1m`,
	run: func(t *story, a *args) error {
		d := a.time("TIME")
		if err := a.done(); err != nil {
			return err
		}
		t.advance(d)
		return nil
	},
}

var untilCommand = command{
	name:  "until",
	usage: "until (MEMBER|all) (up|down|in|out) | settled | reported TEXT ... within TIME [not before TIME]",
	about: `Lets time pass until something is so, and fails if it is not so within TIME, or so already before the other one. A
member is up or down in the node's eyes and in the switch; it is in if it owns slots. The node is settled when the switch
holds what it should, and reported when its log has, since the block of commands began, a line with TEXT.`,
	example: `freeze be1
until be1 down within 6.1s not before 4s
thaw be1
until reported "member web/be1 is up" within 4s`,
	run: runUntil,
}

func runUntil(t *story, a *args) error {
	limit, bounded := a.span("within")
	var floor time.Duration
	if a.has("not") {
		floor, _ = a.span("before")
	}
	if !bounded {
		a.fail("within TIME is missing")
	}
	what := strings.Join(a.words, " ")
	holds, err := t.condition(a)
	if err != nil {
		return err
	}
	began := t.bed.Now()
	if limit += t.slack(); !t.until(holds, limit) {
		return fmt.Errorf("not %s within %v", what, limit)
	}
	if took := t.bed.Now() - began; took < floor {
		return fmt.Errorf("%s after %v, and not only after %v", what, took, floor)
	}
	return t.catchUp()
}

// condition is what until waits for.
func (t *story) condition(a *args) (func() bool, error) {
	who := a.word("MEMBER, all, settled or reported")
	switch who {
	case "settled":
		if err := a.done(); err != nil {
			return nil, err
		}
		return t.settled, nil
	case "reported":
		text := a.word("TEXT")
		if err := a.done(); err != nil {
			return nil, err
		}
		return func() bool { return strings.Contains(strings.Join(t.log, "\n"), text) }, nil
	}
	is, known := memberStates[a.word("up, down, in or out")]
	if !known {
		a.fail("a member is up, down, in or out")
	}
	if err := a.done(); err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	if who != "all" {
		names, err := t.members(who)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			wanted[n.String()] = true
		}
	}
	return func() bool {
		found := 0
		for _, p := range t.view.Pools {
			for _, m := range p.Members {
				if who != "all" && !wanted[p.Name+"/"+m.Name] {
					continue
				}
				if found++; !is(m) {
					return false
				}
			}
		}
		return found > 0
	}, nil
}

// memberStates are what until can wait for of a member.
var memberStates = map[string]func(control.MemberView) bool{
	"up":   func(m control.MemberView) bool { return m.Up },
	"down": func(m control.MemberView) bool { return !m.Up },
	"in":   func(m control.MemberView) bool { return m.InPool },
	"out":  func(m control.MemberView) bool { return !m.InPool },
}

// settled reports whether the node runs, has nothing to do, and the switch holds what it should.
func (t *story) settled() bool {
	s := t.bed.Node().State()
	if !s.Running || s.Due > 0 {
		return false
	}
	problem, err := t.outOfStep()
	return problem == "" && err == nil
}
