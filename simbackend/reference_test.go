package simbackend_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// reference is the simulator's slow twin, written from OpenFlow 1.5, ovs-actions(7) and what is known of OVS 3.1. Of the simulator's code
// it uses none: frames are bytes between two actions, gopacket takes them apart and puts them together with all checksums computed in
// full, fields are a map, every rule of a table is looked at, and connections are a list.
//
// It does not judge fragments, extension headers, IP options, truncated frames and wrong checksums; frames that came with more than one
// tag only in what is before the second; recursion, and what ends a pass with an error; FLOOD, ALL and controllers; the tracker on IPv6,
// on ICMP errors and on protocols other than TCP, UDP and ICMP. Time is whole seconds.
type reference struct {
	ports   []openflow.PortNo
	now     time.Duration
	rules   []*kept
	conns   []*connection
	outputs []datapath.Output // of the frame at hand
	met     map[string]int    // how often something was done, by name
	unclear bool              // what OVS does is chance: two connections claim one frame, say
}

// kept is a rule in a table.
type kept struct {
	openflow.Flow
	*hits
	added, modified time.Duration
}

// hits are a rule's counters, which it leaves to the one that takes its place.
type hits struct {
	packets, bytes uint64
	used           time.Duration
}

// wire is a frame between two actions of the datapath.
type wire struct {
	bytes []byte
	found findings // of the tracker
}

// pass is one walk of a frame through the tables. It changes fields only; what is to be done to the frame are its steps, for afterwards.
type pass struct {
	*reference
	header          // as changed so far
	known   header  // as the steps so far leave it
	rules   []*kept // those there were at the beginning
	length  int     // of the frame
	stack   []openflow.Value
	set     []openflow.Action
	tracked bool // and not cleared since
	exited  bool
	steps   []func(*wire)
}

func newReference(ports ...openflow.PortNo) *reference {
	return &reference{ports: append(ports, openflow.PortLocal), met: map[string]int{}}
}

func (r *reference) receive(in datapath.Injection) []datapath.Output {
	r.outputs = nil
	h := header{fields: map[openflow.Field]openflow.Value{openflow.InPort: openflow.U64(uint64(in.InPort))}}
	r.walk(&wire{bytes: in.Frame}, 0, h, nil, false)
	return r.outputs
}

// walk sends a frame into a table, with what h has besides the frame's own fields.
func (r *reference) walk(x *wire, table openflow.TableID, h header, stack []openflow.Value, tracked bool) {
	own := dissect(x.bytes).header()
	maps.Copy(own.fields, h.fields)
	p := &pass{reference: r, header: own, known: own.clone(), rules: slices.Clone(r.rules), length: len(x.bytes), stack: stack, tracked: tracked}
	p.lookup(table, p.get(openflow.InPort))
	p.runSet()
	for _, step := range p.steps {
		step(x)
	}
}

// lookup does what a table says of a frame from a port.
func (p *pass) lookup(table openflow.TableID, port openflow.Value) {
	var best *kept
	for _, r := range p.rules {
		if r.Table == table && p.satisfies(r.Match, port) && (best == nil || r.Priority > best.Priority) {
			best = r
		}
	}
	if best != nil {
		best.packets, best.bytes, best.used = best.packets+1, best.bytes+uint64(p.length), p.now
		p.run(best.Actions)
	}
}

func (p *pass) satisfies(m openflow.Match, port openflow.Value) bool {
	for _, t := range m.Terms() {
		v := p.get(t.Field)
		if t.Field == openflow.InPort {
			v = port
		}
		if v.And(t.Mask) != t.Value {
			return false
		}
	}
	return true
}

// run executes a list of actions.
func (p *pass) run(actions []openflow.Action) {
	for _, a := range actions {
		p.met[reflect.TypeOf(a).Name()]++
		if end := p.do(a); end || p.exited {
			return
		}
	}
}

// do executes an action. It reports whether the list ends with it.
func (p *pass) do(a openflow.Action) (end bool) {
	switch a := a.(type) {
	case openflow.Output:
		p.output(a.Port)
	case openflow.OutputField:
		if v := p.part(a.Src); v.BitLen() <= 16 {
			p.output(openflow.PortNo(v.Lo))
		}
	case openflow.SetField:
		if p.has(a.Field) {
			p.assign(a.Field, a.Value, a.Mask)
		}
	case openflow.Move:
		if p.has(a.Src.Field) && p.has(a.Dst.Field) {
			p.store(a.Dst, p.part(a.Src))
		}
	case openflow.Push:
		p.stack = append(slices.Clone(p.stack), p.part(a.Src))
	case openflow.Pop:
		if n := len(p.stack); n > 0 {
			p.store(a.Dst, p.stack[n-1])
			p.stack = p.stack[:n-1]
		}
	case openflow.SetVLANVID:
		p.setTag(uint32(a.VID), 0xfff)
	case openflow.SetVLANPCP:
		p.setTag(uint32(a.PCP)<<13, 7<<13)
	case openflow.PushVLAN:
		p.pushTag(a.EthType)
	case openflow.PopVLAN:
		p.popTag()
	case openflow.DecTTL:
		return p.decTTL()
	case openflow.Multipath:
		p.store(a.Dst, openflow.U64(uint64(p.hash(a.Fields, a.Basis)%a.Links)))
	case openflow.Learn:
		p.learn(a)
	case openflow.CT:
		p.ct(a)
	case openflow.CTClear:
		p.ctClear()
	case openflow.WriteMetadata:
		p.assign(openflow.Metadata, openflow.U64(a.Value), openflow.U64(a.Mask))
	case openflow.WriteActions:
		p.set = append(slices.Clone(p.set), a.Actions...)
	case openflow.ClearActions:
		p.set = nil
	case openflow.Clone:
		p.clone(a.Actions)
	case openflow.Resubmit:
		port := p.get(openflow.InPort)
		if a.InPort != openflow.PortIn {
			port = openflow.U64(uint64(a.InPort))
		}
		p.lookup(a.Table, port)
	case openflow.GotoTable:
		p.lookup(a.Table, p.get(openflow.InPort))
		return true
	case openflow.Exit:
		p.exited = true
	default:
		panic(fmt.Sprintf("reference: %v", a))
	}
	return false
}

func (p *pass) decTTL() (end bool) {
	switch ttl := p.get(openflow.IPTTL).Lo; {
	case !p.has(openflow.IPTTL):
	case ttl <= 1:
		p.met["TTL exceeded"]++
		return true
	default:
		p.fields[openflow.IPTTL] = openflow.U64(ttl - 1)
	}
	return false
}

func (p *pass) output(port openflow.PortNo) {
	own := openflow.PortNo(p.get(openflow.InPort).Lo)
	if port == openflow.PortIn {
		port = own
	} else if port == own {
		return
	}
	if slices.Contains(p.ports, port) {
		p.commit()
		p.steps = append(p.steps, func(x *wire) { p.outputs = append(p.outputs, datapath.Output{Port: port, Frame: x.bytes}) })
	}
}

// commit makes the frame what the fields say. Where they say what they did, it is left alone, even if a translation has changed it.
func (p *pass) commit() {
	changes := map[openflow.Field]openflow.Value{}
	for f, v := range p.fields {
		if f >= openflow.EthSrc && v != p.known.fields[f] {
			changes[f] = v
		}
	}
	old, tags := p.known.tags(), p.tags()
	for len(old) > 0 && len(tags) > 0 && old[len(old)-1] == tags[len(tags)-1] { // those further in stay
		old, tags = old[:len(old)-1], tags[:len(tags)-1]
	}
	if p.known = p.header.clone(); len(changes)+len(old)+len(tags) > 0 {
		p.steps = append(p.steps, func(x *wire) { x.rewrite(changes, len(old), tags) })
	}
}

// rewrite changes fields, takes tags off and puts others on.
func (x *wire) rewrite(changes map[openflow.Field]openflow.Value, off int, on []uint32) {
	d := dissect(x.bytes)
	before := d.endpoints()
	for f, place := range d.places() {
		if v, ok := changes[f]; ok {
			place.set(v)
		}
	}
	d.tags = d.tags[off:]
	for _, t := range slices.Backward(on) {
		d.tags = append([]uint32{t &^ present}, d.tags...)
	}
	if x.bytes = d.bytes(); d.endpoints() != before {
		x.found.conn = nil
	}
}

// clone executes actions on a copy. OVS makes one only for what cannot be undone by writing the fields again.
func (p *pass) clone(actions []openflow.Action) {
	fields, stack, set, tracked := p.header.clone(), p.stack, p.set, p.tracked
	inner := func() {
		p.run(actions)
		p.runSet()
	}
	if !slices.ContainsFunc(actions, func(a openflow.Action) bool { _, ok := a.(openflow.CT); return ok }) {
		inner()
		p.header, p.stack, p.set = fields, stack, set
		return
	}
	p.commit()
	outer, known := p.steps, p.known.clone()
	p.steps = nil
	inner()
	steps := p.steps
	p.steps = append(outer, func(x *wire) {
		c := *x
		for _, step := range steps {
			step(&c)
		}
	})
	p.header, p.known, p.stack, p.set, p.tracked = fields, known, stack, set, tracked
}

// runSet executes the action set, in the order of OpenFlow 1.5, 5.6: tags, TTL, fields as written, output. Without one it does nothing.
func (p *pass) runSet() {
	var last [4]openflow.Action
	var sets []openflow.Action
	for _, a := range p.set {
		switch a.(type) {
		case openflow.PopVLAN:
			last[0] = a
		case openflow.PushVLAN:
			last[1] = a
		case openflow.DecTTL:
			last[2] = a
		case openflow.Output, openflow.OutputField:
			last[3] = a
		default:
			sets = append(sets, a)
		}
	}
	if p.set = nil; last[3] != nil && !p.exited {
		p.met["action set"]++
		all := slices.Concat(last[:3], sets, last[3:])
		p.run(slices.DeleteFunc(all, func(a openflow.Action) bool { return a == nil }))
	}
}

// modify does what a FlowMod says.
func (r *reference) modify(m openflow.FlowMod) {
	f := m.Flow
	same := func(k *kept) bool { return k.Key().Compare(f.Key()) == 0 }
	switch i := slices.IndexFunc(r.rules, same); m.Command {
	case openflow.Add:
		k := &kept{f, &hits{used: r.now}, r.now, r.now}
		if i >= 0 {
			k.hits, r.rules[i] = r.rules[i].hits, k
		} else {
			r.rules = append(r.rules, k)
		}
	case openflow.ModifyStrict:
		if i >= 0 {
			r.rules[i].Actions, r.rules[i].modified = f.Actions, r.now
		}
	case openflow.DeleteStrict:
		r.rules = slices.DeleteFunc(r.rules, same)
	case openflow.Delete:
		r.rules = slices.DeleteFunc(r.rules, func(k *kept) bool { return k.Table == f.Table && f.Match.Covers(k.Match) })
	default:
		panic(fmt.Sprintf("reference: %v", m))
	}
}

// advance lets seconds pass. At the end of each, what is over is removed: rules strictly later than their time, connections at theirs.
func (r *reference) advance(seconds int) {
	late := func(since time.Duration, timeout uint16) bool {
		return timeout != 0 && r.now > since+time.Duration(timeout)*time.Second
	}
	for range seconds {
		r.now += time.Second
		n := len(r.rules)
		r.rules = slices.DeleteFunc(r.rules, func(k *kept) bool { return late(k.used, k.IdleTimeout) || late(k.modified, k.HardTimeout) })
		r.met["timed out"] += n - len(r.rules)
		r.conns = slices.DeleteFunc(r.conns, func(c *connection) bool { return c.over || c.expires <= r.now })
	}
}

// flows lists the rules with their counters as a switch does.
func (r *reference) flows() (list []openflow.FlowEntry) {
	for _, k := range r.rules {
		list = append(list, openflow.FlowEntry{Flow: k.Flow, Stats: openflow.Stats{
			Packets: k.packets, Bytes: k.bytes, Duration: r.now - k.added, IdleAge: r.now - k.used, HardAge: r.now - k.modified,
		}})
	}
	slices.SortFunc(list, func(a, b openflow.FlowEntry) int { return a.Key().Compare(b.Key()) })
	return list
}
