package simbackend

import (
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// run executes the actions of a rule of the given table, or of a list inside one. If they end with
// going to another table, it returns that action; going there is for the caller.
func (p *pass) run(c *code, table openflow.TableID) (next *op) {
	if p.trace != nil && len(c.ops) == 0 {
		p.trace.add(datapath.NodeAction, "drop")
	}
	for i := range c.ops {
		o := &c.ops[i]
		if p.trace != nil {
			p.trace.action(c, i)
		}
		if o.code == opGoto {
			return o
		}
		if !p.step(o, table) || p.stopped {
			break
		}
	}
	return nil
}

// perform executes a list of actions, and the rules of the table that it goes to.
func (p *pass) perform(c *code, table openflow.TableID) {
	if next := p.run(c, table); next != nil {
		p.resubmit(next.table, table, p.key.InPort())
	}
}

// step executes one action other than goto_table and reports whether the rest of its list is to follow.
func (p *pass) step(o *op, table openflow.TableID) bool {
	p.dirty = p.dirty || o.header
	if p.recorded {
		p.wildcards.act(o, &p.key)
	}
	switch o.code {
	case opOutput:
		p.output(o.port)
	case opResubmit:
		p.runResubmit(o, table)
	case opSet:
		p.setField(o)
	case opStore:
		o.store.Apply(&p.key)
	case opMove:
		p.move(o)
	case opCopy:
		o.dst.Set(&p.key, o.src.Get(&p.key))
		if p.trace != nil {
			p.trace.now(o.dst.Sub(), &p.key)
		}
	case opMultipath:
		p.write(&o.dst, openflow.U64(uint64(flow.Multipath(&p.key, &o.more.multipath))))
	case opDecTTL:
		return p.decTTL(o)
	case opCT:
		p.ct(&o.more.ct)
	case opLearn:
		p.runLearn(o)
	default:
		p.stepRare(o, table)
	}
	return true
}

func (p *pass) stepRare(o *op, table openflow.TableID) {
	switch o.code {
	case opOutputField:
		p.outputField(&o.src)
	case opController:
		p.controller(o.more.controller.ID, o.more.controller.Reason)
	case opPush:
		p.push(o.src.Get(&p.key))
	case opPop:
		p.pop(&o.dst)
	case opSetVLANVID:
		p.key.SetVLANVID(o.port)
	case opSetVLANPCP:
		p.key.SetVLANPCP(uint8(o.port))
	case opPushVLAN:
		p.key.PushVLAN(o.port)
	case opPopVLAN:
		p.key.PopVLAN()
	case opCTClear:
		if p.tracked {
			p.steps = append(p.steps, step{kind: stepCTClear})
			p.clearCT()
		}
	case opWriteActions:
		p.set.write(o.more.nested)
		if p.trace != nil {
			p.trace.note("action set is" + p.set.shown())
		}
	case opClearActions:
		if p.trace != nil {
			p.trace.note("action set was" + p.set.shown())
		}
		p.set.reset()
	case opClone:
		p.clone(o.more.nested, table)
	case opExit:
		p.exited, p.stopped = true, true
	case opNote:
	default:
		p.fail(errNotCompiled, errNotCompiled.Error())
	}
}

func boolean(b bool) openflow.Value {
	if b {
		return openflow.U64(1)
	}
	return openflow.Value{}
}

// setField writes a constant, if the frame has the field.
func (p *pass) setField(o *op) {
	switch {
	case flow.Present(&p.key, o.store.Field()):
		o.store.Apply(&p.key)
	case p.trace != nil:
		p.trace.warn(fmt.Sprintf("unmet prerequisites for %v, set_field ignored", o.store.Field()))
	}
}

// move copies one part of the fields to another, if the frame has both.
func (p *pass) move(o *op) {
	if p.has(o.src.Field()) && p.has(o.dst.Field()) {
		p.write(&o.dst, o.src.Get(&p.key))
	} else if p.trace != nil {
		p.trace.now(o.dst.Sub(), &p.key)
	}
}

// has reports whether the frame has a field. A VLAN id can be read and written on an untagged frame,
// too, but set_field does not do that.
func (p *pass) has(f openflow.Field) bool {
	return f == openflow.VLANVID || flow.Present(&p.key, f)
}

// write writes v to dst, even if the frame lacks it: what does not ask for that at commit does not ask
// here, and the ports of a later fragment are bytes of its payload. The VLAN id of an untagged frame is
// that part of a vlan_tci which does not make a tag.
func (p *pass) write(dst *flow.Ref, v openflow.Value) {
	if dst.Field() == openflow.VLANVID && !flow.Present(&p.key, openflow.VLANVID) {
		sub := dst.Sub()
		sub.Field = openflow.VLANTCI
		p.key.SetSub(sub, v)
	} else {
		dst.Set(&p.key, v)
	}
	if p.trace != nil {
		p.trace.now(dst.Sub(), &p.key)
	}
}

func (p *pass) runResubmit(o *op, table openflow.TableID) {
	to, port := o.table, o.port
	if to == openflow.CurrentTable {
		to = table
	}
	if port == uint16(openflow.PortIn) {
		port = p.key.InPort()
	}
	p.resubmit(to, table, port)
}

// decTTL decrements the TTL. At 0 or 1 the frame goes to the controllers instead, and the rest of
// the table's actions are skipped.
func (p *pass) decTTL(o *op) bool {
	if !flow.Present(&p.key, openflow.IPTTL) {
		return true
	}
	if ttl := p.key.TTL(); ttl > 1 {
		p.key.SetTTL(ttl - 1)
		return true
	}
	ids := []uint16{0}
	if o.more != nil {
		ids = o.more.ttlTo
	}
	if p.trace != nil {
		version := 6
		if p.key.Get(openflow.EthType) == openflow.U64(openflow.EthTypeIPv4) {
			version = 4
		}
		p.trace.warn(fmt.Sprintf("IPv%d decrement TTL exception", version))
	}
	for _, id := range ids {
		p.controller(id, openflow.ReasonInvalidTTL)
	}
	return false
}

const maxStack = 65536 / 16 // values

func (p *pass) push(v openflow.Value) {
	if len(p.stack) == maxStack {
		p.fail(errStackTooDeep, "stack is too deep")
		return
	}
	p.stack = append(p.stack, v)
}

func (p *pass) pop(dst *flow.Ref) {
	if len(p.stack) == 0 {
		if p.trace != nil {
			p.trace.fail("stack underflow") // and then OVS goes on
		}
		return
	}
	v := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	p.write(dst, v.And(openflow.Ones(int(dst.Sub().Width))))
}

func (p *pass) runLearn(o *op) {
	if p.trace != nil {
		p.trace.learned(&o.more.learn, &p.key)
	}
	ok := p.learn(&o.more.learn)
	if o.dst.Field() != openflow.FieldNone {
		p.write(&o.dst, boolean(ok))
	}
	if p.trace != nil && !ok {
		p.trace.note("Limit exceeded, learn failed")
	}
}

// clone executes actions as if on a copy, and the action set behind them: fields, stack and set
// are as before afterwards, but an exit is one for the frame too. Like OVS, it copies the frame
// only for actions that cannot be taken back by rewriting it again; then a ct_clear among them
// leaves the frame something to clear.
func (p *pass) clone(c *code, table openflow.TableID) {
	key, stack, set, tracked := p.key, append([]openflow.Value(nil), p.stack...), p.set.copy(), p.tracked
	if p.recorded {
		defer p.wildcards.aside()()
	}
	if c.reversible() {
		p.runClone(c, table)
	} else {
		p.commit()
		at := len(p.steps)
		p.steps = append(p.steps, step{kind: stepClone})
		p.runClone(c, table)
		p.steps[at].n = int32(len(p.steps) - at - 1)
		p.tracked = tracked
	}
	p.key, p.stack, p.set, p.dirty = key, append(p.stack[:0], stack...), set, true
}

func (p *pass) runClone(c *code, table openflow.TableID) {
	p.perform(c, table)
	if p.err == nil && !p.set.empty() {
		p.runSet(table)
	}
}
