package simbackend

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// step is one datapath action. A pass composes steps; execute carries them out.
type step struct {
	kind   stepKind
	recirc bool                    // stepCT
	table  openflow.TableID        // stepCT with recirc
	reason openflow.PacketInReason // stepController
	id     uint16                  // stepController
	port   uint16                  // stepOutput, stepController
	n      int32                   // stepClone: how many of the following steps belong to it
	key    int32                   // index into pass.keys. stepSet: the fields wanted; stepCT: those that survive

	request *conntrack.Request // stepCT
	stack   *[]openflow.Value  // stepCT with recirc; nil if it is empty
}

// stepKind says what a step does.
type stepKind uint8

const (
	stepSet        stepKind = iota + 1 // rewrite the frame
	stepOutput                         // send it out
	stepController                     // send it to the controller
	stepCT                             // track it, perhaps fork a copy that recirculates
	stepCTClear                        // forget its tracking state
	stepClone                          // execute n steps on a copy
)

// commit composes the rewriting of the frame that brings it up to date with the fields.
func (p *pass) commit() {
	if p.dirty {
		p.steps = append(p.steps, step{kind: stepSet, key: p.keepFrame()})
		p.dirty = false
	}
}

// keep saves the fields as they are now and returns where.
func (p *pass) keep() int32 {
	p.keys = append(p.keys, p.key)
	p.overlay()
	return int32(len(p.keys) - 1)
}

// keepFrame is keep of what is read from frames, and of in_port.
func (p *pass) keepFrame() int32 {
	n := len(p.keys)
	p.keys = slices.Grow(p.keys, 1)[:n+1]
	p.keys[n].CopyFrame(&p.key)
	p.overlay()
	return int32(n)
}

// overlay keeps what was written of the fields that were saved, for a pass that is to be told again.
func (p *pass) overlay() {
	if !p.recorded || p.trace == nil {
		return
	}
	var ok bool
	if p.overlays, ok = p.wildcards.overlay(p.overlays, &p.key); ok {
		p.overlaid++
	}
}

// output composes sending the frame out, except to where it came from and to ports that do
// not exist.
func (p *pass) output(port uint16) {
	switch openflow.PortNo(port) {
	case openflow.PortIn:
		p.send(p.key.InPort())
	case openflow.PortFlood, openflow.PortAll:
		p.flood()
	case openflow.PortController:
		p.controller(0, openflow.ReasonAction)
	case openflow.PortNone:
	default:
		if port == p.key.InPort() {
			if p.trace != nil {
				p.trace.warn("skipping output to input port")
			}
			return
		}
		p.send(port)
	}
}

func (p *pass) send(port uint16) {
	if p.sw.ports.find(openflow.PortNo(port)) == nil {
		if p.trace != nil {
			p.trace.warn("Nonexistent output port")
		}
		return
	}
	p.commit()
	p.steps = append(p.steps, step{kind: stepOutput, port: port})
}

func (p *pass) flood() {
	for _, port := range p.sw.order {
		if uint16(port.Number) != p.key.InPort() {
			p.send(uint16(port.Number))
		}
	}
}

// outputField composes an output to the port that a field holds. Values that are no port, or a
// port that only a rule may name, go nowhere.
func (p *pass) outputField(src *flow.Ref) {
	v := src.Get(&p.key)
	if p.trace != nil {
		p.trace.outputPort(v)
	}
	if v.Hi == 0 && v.Lo < 0xffff && v.Lo != uint64(openflow.PortNormal) && v.Lo != uint64(openflow.PortTable) {
		p.output(uint16(v.Lo))
	}
}

// controller composes sending the frame to the controllers of a connection id: all of it, since OVS
// does not buffer frames. What a table's flow for everything else sends has missed (OpenFlow 1.5, 5.4), but
// not if the action set led there.
func (p *pass) controller(id uint16, reason openflow.PacketInReason) {
	if r := p.rule; reason == openflow.ReasonAction && !p.inSet && r != nil && r.priority == 0 && len(r.flow.Match.Terms()) == 0 {
		reason = openflow.ReasonNoMatch
	}
	p.commit()
	p.steps = append(p.steps, step{kind: stepController, port: p.key.InPort(), id: id, reason: reason})
}

// ct composes tracking. With table=, a copy of the frame continues there, tracked; the
// frame itself continues here, untracked.
func (p *pass) ct(c *ctCode) {
	if c.recirc && !p.set.empty() {
		p.fail(errPendingSet, errPendingSet.Error())
		return
	}
	p.commit()
	request := p.request(c)
	p.clearCT()
	s := step{kind: stepCT, recirc: c.recirc, table: c.table, request: request, key: p.keep()}
	if c.recirc && len(p.stack) > 0 {
		stack := append([]openflow.Value(nil), p.stack...)
		s.stack = &stack
	}
	p.steps = append(p.steps, s)
	if p.trace != nil {
		p.trace.forked(c)
	}
}

// request is what a ct() asks of the tracker for this frame. It is valid until the next pass.
func (p *pass) request(c *ctCode) *conntrack.Request {
	if c.zone.Field() == openflow.FieldNone && len(c.exec.ops) == 0 {
		return &c.request
	}
	if p.asked == len(p.requests) {
		p.requests = append(p.requests, &conntrack.Request{})
	}
	r := p.requests[p.asked]
	p.asked++
	*r = c.request
	if c.zone.Field() != openflow.FieldNone {
		r.Zone = uint16(c.zone.Get(&p.key).Lo)
	}
	p.exec(c, r)
	return r
}

// exec works out what the exec list writes to the connection's mark and label: the list runs on
// the fields, and what it touched is the mask.
func (p *pass) exec(c *ctCode, r *conntrack.Request) {
	for i := range c.exec.ops {
		o := &c.exec.ops[i]
		switch o.code {
		case opSet, opStore:
			o.store.Apply(&p.key)
			set := c.exec.actions[i].(openflow.SetField)
			markWritten(r, set.Field, set.Mask)
		case opMove, opCopy:
			o.dst.Set(&p.key, o.src.Get(&p.key))
			markWritten(r, o.dst.Field(), o.dst.Sub().Mask())
		}
	}
	r.Mark = uint32(p.key.Get(openflow.CTMark).Lo) & r.MarkMask
	label := p.key.Get(openflow.CTLabel)
	r.Label = conntrack.Label{Hi: label.Hi & r.LabelMask.Hi, Lo: label.Lo & r.LabelMask.Lo}
}

func markWritten(r *conntrack.Request, f openflow.Field, mask openflow.Value) {
	switch f {
	case openflow.CTMark:
		r.MarkMask |= uint32(mask.Lo)
	case openflow.CTLabel:
		r.LabelMask.Hi |= mask.Hi
		r.LabelMask.Lo |= mask.Lo
	}
}

// clearCT makes the frame untracked, as far as the fields tell.
func (p *pass) clearCT() {
	p.tracked = false
	p.key.SetConnection(&flow.Connection{})
	if p.recorded {
		p.wildcards.untrack()
	}
}

// setConntrack makes the ct_ fields of a key what the tracker found.
func setConntrack(k *flow.Key, m *conntrack.Meta) {
	c := connection(m)
	k.SetConnection(&c)
}

func connection(m *conntrack.Meta) flow.Connection {
	orig := m.Orig
	if orig.Proto == 0 { // OVS takes the tuple for none
		orig = conntrack.Tuple{}
	}
	return flow.Connection{
		State: uint8(m.State), Zone: m.Zone, Mark: m.Mark, Label: openflow.Value{Hi: m.Label.Hi, Lo: m.Label.Lo},
		Src: address(orig.Src), Dst: address(orig.Dst), Proto: orig.Proto,
		SrcPort: orig.SrcPort, DstPort: orig.DstPort,
	}
}

func address(a [4]byte) uint32 {
	return uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
}
