package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hpnn/internal/control"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/testbed"
)

// story is a site and what a story has to remember of it.
type story struct {
	config  Config
	path    string
	calls   []call   // all of the story
	now     Step     // being done
	like    likeness // of what it prints
	printed []line

	bed      testbed.Bed
	topology model.Topology
	rules    rules
	view     control.View // after the node's last change that took effect
	log      []string     // of the node, since the block began
	jobs     []*job
	trouble  error                        // of what runs in the background
	local    map[localPort]uint16         // the port that each host connects from next
	heard    map[string][]testbed.Heard   // frames by host, since the block began
	dropped  map[dropKey]uint64           // by the flows that drop, when they were last asked for
	owners   map[uint16]map[uint64]uint64 // who owned each slot of each pool when slots were last asked for; nil before
	sending  func(passed)                 // told of each frame that passed the switch; may be nil
}

func newStory(c Config, path string) *story {
	c.Bed = cmp.Or(c.Bed, "sim")
	return &story{config: c, path: path}
}

// print adds lines to what the block prints.
func (t *story) print(format string, values ...any) {
	for text := range strings.Lines(fmt.Sprintf(format, values...)) {
		if text = strings.TrimRight(text, " \t\n"); text != "" {
			t.printed = append(t.printed, line{text, t.like})
		}
	}
}

// near is a path that the story gives relative to its own place.
func (t *story) near(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(t.path), path)
}

// open builds the site; topology nil stands for the one of the command line.
func (t *story) open(topology *model.Topology) error {
	if topology == nil {
		if t.config.Topology == "" {
			return fmt.Errorf("the story names no topology: begin it with one, or give --topology")
		}
		loaded, err := model.Load(t.config.Topology)
		if err != nil {
			return err
		}
		topology = &loaded
	}
	if err := t.close(); err != nil {
		return err
	}
	t.bed = nil
	*t = *newStory(t.config, t.path).carryOn(t)
	t.topology = *topology
	t.rules.begin(t.topology)
	open, err := findBed(t.config.Bed)
	if err != nil {
		return err
	}
	bed, err := open(t.topology, testbed.BedConfig{Seed: 1, Tap: t.tap, Heard: t.hear, Log: t.note, Committed: t.committed})
	if errors.Is(err, testbed.ErrLacking) || errors.Is(err, testbed.ErrUnfit) {
		return skip{err}
	}
	if err != nil {
		return err
	}
	t.bed = bed
	if err := t.able(); err != nil {
		return err
	}
	t.committed(bed.Node().State().View)
	return nil
}

// carryOn keeps of another story what outlives a site.
func (t *story) carryOn(old *story) *story {
	t.now, t.like, t.printed, t.calls = old.now, old.like, old.printed, old.calls
	t.local, t.heard = map[localPort]uint16{}, map[string][]testbed.Heard{}
	t.dropped = map[dropKey]uint64{}
	return t
}

func (t *story) close() error {
	if t.bed == nil {
		return nil
	}
	return t.bed.Close()
}

// committed takes in what the node has brought about.
func (t *story) committed(v control.View) {
	if v.InSync {
		t.view = v
		t.rules.committed(t.topology, v)
		if t.bed != nil && t.inRealTime() {
			t.rules.dead = nil // frames and the node's word come by different ways: nobody knows which was first
		}
	}
}

func (t *story) note(_ time.Duration, line string) { t.log = append(t.log, line) }

// heardLimit bounds the frames that are kept of a host.
const heardLimit = 20000

func (t *story) hear(h testbed.Heard) {
	if len(t.heard[h.Host]) < heardLimit {
		t.heard[h.Host] = append(t.heard[h.Host], h)
	}
}

// machine finds a host.
func (t *story) machine(name string) (testbed.Machine, error) {
	var names []string
	for _, m := range t.bed.Hosts().List() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return testbed.Machine{}, fmt.Errorf("there is no host %q: use one of %s", name, strings.Join(names, ", "))
}

// at names the machines on a port.
func (t *story) at(port uint32) string {
	var names []string
	for _, m := range t.bed.Hosts().List() {
		if uint32(m.Port) == port {
			names = append(names, m.Name)
		}
	}
	if names == nil {
		return fmt.Sprintf("port %d", port)
	}
	return strings.Join(names, "+")
}

// members finds members by "member" or "pool/member".
func (t *story) members(name string) ([]pipeline.MemberName, error) {
	return pipeline.FindMembers(t.topology, name)
}

// until lets time pass until done says so, and reports whether it did before limit had passed. What
// runs in the background goes on.
func (t *story) until(done func() bool, limit time.Duration) bool {
	end := t.bed.Now() + limit
	stop := func() bool { return done() || slices.ContainsFunc(t.jobs, (*job).idle) }
	for {
		wake := end
		for _, j := range t.jobs {
			if at, ok := j.next(); ok {
				wake = min(wake, at)
			}
		}
		if t.bed.Until(stop, max(0, wake-t.bed.Now())) && done() {
			return true
		}
		for _, j := range t.jobs {
			t.trouble = errors.Join(t.trouble, j.turn(t))
		}
		if t.trouble != nil || t.bed.Now() >= end {
			return done()
		}
	}
}

func (t *story) advance(d time.Duration) { t.until(func() bool { return false }, d) }

// brief is a frame in one line, without the numbers that differ from stack to stack.
func brief(frame []byte) string { return numbers.ReplaceAllString(packet.Summary(frame), "") }
