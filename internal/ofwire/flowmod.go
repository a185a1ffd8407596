package ofwire

import (
	"fmt"

	of "hpnn/datapath/openflow"
)

const (
	noBuffer = 0xffffffff
	anyPort  = 0xffffffff
	anyGroup = 0xffffffff
)

// AppendFlowMod appends a change as the body of an OFPT_FLOW_MOD, without its header (section 7.3.4.2). If
// it cannot be said, b is returned as it was, with an *UnsupportedError.
func AppendFlowMod(b []byte, m of.FlowMod) ([]byte, error) {
	w := writer{b: b}
	f := m.Flow
	w.u64(f.Cookie)
	w.u64(m.CookieMask)
	w.u8(uint8(f.Table))
	w.u8(uint8(m.Command))
	w.u16(f.IdleTimeout)
	w.u16(f.HardTimeout)
	w.u16(priority(m))
	w.u32(noBuffer)
	port := uint32(anyPort)
	if m.OutPort != 0 {
		port = widePort(m.OutPort)
	}
	w.u32(port)
	w.u32(anyGroup)
	w.u16(uint16(f.Flags))
	w.u16(f.Importance)
	w.match(f.Match)
	w.instructions(Spell(f.Match, f.Actions))
	switch {
	case m.Command > of.DeleteStrict:
		w.fail(&UnsupportedError{m.String(), "unknown command"})
	case len(w.b)-len(b) > maxBody:
		w.fail(&UnsupportedError{m.String(), "does not fit in a message"})
	}
	if w.err != nil {
		return b, fmt.Errorf("encode change: %w", w.err)
	}
	return w.b, nil
}

// maxBody is the longest body of a message that fits into an OFPT_BUNDLE_ADD_MESSAGE with its own header.
const maxBody = 0xffff - 8 - 8 - 8

// priority means nothing to a command that is not strict; ovs-ofctl sends the default.
func priority(m of.FlowMod) uint16 {
	if m.Command == of.Modify || m.Command == of.Delete {
		return of.DefaultPriority
	}
	return m.Flow.Priority
}

// DecodeFlowMod reads what AppendFlowMod appends.
func DecodeFlowMod(b []byte) (m of.FlowMod, err error) {
	r := reader{b: b}
	m.Flow.Cookie, m.CookieMask = r.u64(), r.u64()
	m.Flow.Table, m.Command = of.TableID(r.u8()), of.Command(r.u8())
	m.Flow.IdleTimeout, m.Flow.HardTimeout = r.u16(), r.u16()
	m.Flow.Priority = r.u16()
	if m.Command == of.Modify || m.Command == of.Delete {
		m.Flow.Priority = 0
	}
	r.skip(4) // a buffer
	if port := r.u32(); port != anyPort && r.err == nil {
		if m.OutPort, err = narrowPort(port); err != nil {
			r.fail(err)
		}
	}
	if group := r.u32(); r.err == nil && group != anyGroup {
		r.fail(foreign("selecting by group %d is not supported", group))
	}
	m.Flow.Flags, m.Flow.Importance = r.flags(), r.u16()
	m.Flow.Match = r.match()
	m.Flow.Actions = r.instructions()
	if r.err == nil && m.Command > of.DeleteStrict {
		r.fail(foreign("command %d of a change", m.Command))
	}
	if r.err != nil {
		return of.FlowMod{}, fmt.Errorf("decode change: %w", r.err)
	}
	return m, nil
}

func (r *reader) flags() of.Flags {
	const all = of.SendFlowRem | of.CheckOverlap | of.ResetCounts | of.NoPacketCounts | of.NoByteCounts
	return of.Flags(r.known(r.u16(), uint16(all), "flags of a flow"))
}
