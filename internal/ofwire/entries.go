package ofwire

import (
	"fmt"
	"time"

	of "hpnn/datapath/openflow"
)

// AllFlows is the body of a request of OFPMP_FLOW_DESC for every flow of every table (section 7.3.5.2).
func AllFlows() []byte {
	w := writer{}
	w.u8(uint8(of.CurrentTable)) // all
	w.zero(3)
	w.u32(anyPort)
	w.u32(anyGroup)
	w.zero(4)
	w.zero(16) // cookie and mask
	w.match(of.Match{})
	return w.b
}

// AppendEntries appends the flows in the body of a reply to AllFlows, in their order there.
func AppendEntries(flows []of.FlowEntry, b []byte) ([]of.FlowEntry, error) {
	r := reader{b: b}
	for len(r.b) > 0 && r.err == nil {
		length := int(r.u16())
		body := r.section(length - 2)
		flows = append(flows, body.entry())
		r.join(body)
	}
	if r.err != nil {
		return nil, fmt.Errorf("decode flow %d of a reply: %w", len(flows), r.err)
	}
	return flows, nil
}

// entry is one flow but for its length (struct ofp_flow_desc).
func (r *reader) entry() (e of.FlowEntry) {
	r.skip(2)
	e.Table = of.TableID(r.u8())
	r.skip(1)
	e.Priority = r.u16()
	e.IdleTimeout, e.HardTimeout = r.u16(), r.u16()
	e.Flags, e.Importance = r.flags(), r.u16()
	e.Cookie = r.u64()
	e.Match = r.match()
	e.Stats = r.stats()
	e.Actions = r.instructions()
	return e
}

// Statistics (section 7.2.4): the upper 23 bits of their headers.
const (
	statDuration = 0x8002 << 7
	statIdle     = 0x8002<<7 | 1
	statFlows    = 0x8002<<7 | 3
	statPackets  = 0x8002<<7 | 4
	statBytes    = 0x8002<<7 | 5
)

func (r *reader) stats() (s of.Stats) {
	r.skip(2)
	length := int(r.u16())
	list := r.section(length - 4)
	r.skip((8 - length%8) % 8)
	for len(list.b) > 0 {
		h := list.u32()
		v := list.section(int(h & 0xff))
		switch h >> 9 {
		case statDuration:
			s.Duration = v.duration()
			s.HardAge = s.Duration // there is no other in OpenFlow 1.5
		case statIdle:
			s.IdleAge = v.duration()
		case statPackets:
			s.Packets = v.u64()
		case statBytes:
			s.Bytes = v.u64()
		case statFlows:
			v.u32()
		default:
			v.fail(foreign("statistic %#x is not supported", h))
		}
		list.join(v)
	}
	r.join(list)
	return s
}

func (r *reader) duration() time.Duration {
	seconds := r.u32()
	return time.Duration(seconds)*time.Second + time.Duration(r.u32())
}
