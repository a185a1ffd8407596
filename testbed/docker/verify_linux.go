package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hpnn/model"
)

// verifier is one run of all checks.
type verifier struct {
	*report
	parent   string
	topology model.Topology
	pool     model.Pool // the first
	node     *space
	machines []Machine
	spaces   map[string]*space // by the machine's name
	begun    status            // when all was well
}

// VerifyConfig says how to verify.
type VerifyConfig struct {
	// Strict makes a time that was missed a failure. It is for machines that have nothing else to do.
	Strict bool
	// Parent is the host's interface that the public segment is on; the client in a container has no wire then, and
	// what it would check is left out.
	Parent string
}

// Verify runs the checks of the stand and prints each with what was measured. It is an error if one fails. The stand
// must be up, and is as before when it ends, or when the context does.
func Verify(ctx context.Context, t model.Topology, c VerifyConfig, out io.Writer) error {
	v := &verifier{report: &report{out: out, strict: c.Strict}, parent: c.Parent, topology: t, pool: t.Pools[0], machines: Site(t)}
	if c.Parent != "" {
		v.machines = slices.DeleteFunc(v.machines, func(m Machine) bool { return m.Name == publicClient })
		v.note("the public segment is on " + c.Parent + ": what its client would check is left out")
	}
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.leave()
	if _, err := v.await(ctx, complete); err != nil {
		return fmt.Errorf("the stand is not up: %w", err)
	}
	defer v.restore(context.WithoutCancel(ctx))
	for _, story := range []struct {
		name string
		tell func(context.Context)
	}{
		{"health and slots", v.health},
		{"listeners", v.listeners},
		{"addresses of the node", v.addresses},
		{"routing", v.routing},
		{"drain", v.drain},
		{"a member freezes (docker pause)", v.freeze},
		{"all members freeze", v.freezeAll},
		{"programs end (kill -9)", v.programs},
		{"containers end", v.containers},
	} {
		v.section(story.name)
		if _, err := v.await(ctx, complete); !v.must(err, "the stand before it") {
			break // the rest would tell nothing
		}
		story.tell(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return v.end()
}

// enter opens the namespaces of all containers, those of new containers too when it is called again.
func (v *verifier) enter(ctx context.Context) error {
	v.leave()
	pids, err := standOf(v.topology).pids(ctx)
	if err != nil {
		return err
	}
	v.spaces = map[string]*space{}
	if v.node, err = enter(v.topology.Node.Name, pids[v.topology.Node.Name]); err != nil {
		return err
	}
	for _, m := range v.machines {
		if v.spaces[m.Name], err = enter(m.Container, pids[m.Container]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) leave() {
	if v.node != nil {
		v.node.close()
	}
	for _, s := range v.spaces {
		s.close()
	}
	v.node, v.spaces = nil, nil
}

// restore undoes what a story that was broken off has left: containers that are paused or have ended, members that are drained.
// What it cannot undo make up says.
func (v *verifier) restore(ctx context.Context) {
	ended := false
	for _, name := range standOf(v.topology).containers() {
		state, err := engine(ctx, "inspect", "--format", "{{.State.Status}}", name)
		switch strings.TrimSpace(state) {
		case "paused":
			_, err = engine(ctx, "unpause", name)
		case "exited":
			ended = true
			_, err = engine(ctx, "start", name)
		}
		if err != nil {
			v.note("leave the stand as it was: " + err.Error())
		}
	}
	v.leave()
	_, err := Attach(ctx, v.topology, v.parent)
	if err = errors.Join(err, v.enter(ctx)); err != nil {
		v.note("leave the stand as it was: " + err.Error())
		return
	}
	if ended {
		_, err = v.await(ctx, func(st status) string { return st.Control.Failure }) // until hcd answers
	}
	for _, m := range v.pool.Members {
		err = errors.Join(err, v.node.call(ctx, http.MethodPost, "/enable?member="+m.Name, nil))
	}
	if err != nil {
		v.note("leave the stand as it was: " + err.Error())
	}
}

// health looks at the probes and the layout.
func (v *verifier) health(ctx context.Context) {
	name := v.pool.Members[0].Name
	seen, err := v.spaces[name].capture()
	if !v.must(err, "capture at "+name) {
		return
	}
	probes := 0 // that it had when the capture began
	_, err = v.await(ctx, func(st status) string {
		p := st.Pools[0]
		n := p.Members[p.member(name)].Probes
		if probes == 0 {
			probes = n
		}
		if n < probes+2 { // so that one of them was sent since
			return "no probe of " + name
		}
		return ""
	})
	if !v.must(err, "probes of "+name) {
		return
	}
	sources := map[string]int{}
	for _, o := range seen.end() {
		if !o.answer {
			sources[o.src]++
		}
	}
	st, err := v.await(ctx, complete)
	if !v.must(err, "all members are in") {
		return
	}
	v.begun = st
	p := st.Pools[0]
	v.check(p.Live == len(v.pool.Members), "members that are up", fmt.Sprint(p.Live), fmt.Sprint(len(v.pool.Members)))
	source := p.Members[p.member(name)].Source
	v.check(len(sources) == 1 && sources[source] > 0, "probes at "+name+" come from", shares(sources), source+" only")
	if m, ok := v.machine(name); ok {
		segment, _ := v.topology.Segment(m.Segment)
		mac := v.neighbour(m, segment.Probe.Address)
		v.check(mac == segment.Probe.MAC.String(), fmt.Sprintf("%v, as %s knows it, is at", segment.Probe.Address, name), mac, segment.Probe.MAC.String())
	}
	slots := map[string]int{}
	for _, m := range p.Members {
		slots[m.Name] = m.Slots
	}
	all := slices.Collect(maps.Values(slots))
	v.check(slices.Max(all)-slices.Min(all) <= 1, "slots", shares(slots), "equal ±1")
	v.check(p.Digest != "", "digest", short(p.Digest), "")
}

func short(digest string) string { return digest[:min(16, len(digest))] }

// ask is a listener and who asks it.
type ask struct {
	model.Listener
	from Machine
	url  string
}

func (v *verifier) machine(name string) (Machine, bool) {
	i := slices.IndexFunc(v.machines, func(m Machine) bool { return m.Name == name })
	if i < 0 {
		return Machine{}, false
	}
	return v.machines[i], true
}
