package simbackend

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// appendSteps appends steps as ofproto/trace prints datapath actions, with OpenFlow port numbers.
func appendSteps(b []byte, steps []step, keys []flow.Key, base *flow.Key) []byte {
	if len(steps) == 0 {
		return append(b, "drop"...)
	}
	start := len(b)
	for i := 0; i < len(steps); i++ {
		b = comma(b, start)
		switch st := &steps[i]; st.kind {
		case stepSet:
			before := len(b)
			if b = appendSets(b, base, &keys[st.key]); len(b) == before && before > start {
				b = b[:before-1] // nothing is set, and no comma is needed
			}
			base = &keys[st.key]
		case stepOutput:
			b = strconv.AppendUint(b, uint64(st.port), 10)
		case stepController:
			b = fmt.Appendf(b, "userspace(controller(reason=%d,id=%d))", st.reason, st.id)
		case stepCT:
			b = appendCT(b, st)
		case stepCTClear:
			b = append(b, "ct_clear"...)
		case stepClone:
			b = append(appendSteps(append(b, "clone("...), steps[i+1:i+1+int(st.n)], keys, base), ')')
			i += int(st.n)
		}
	}
	return b
}

// comma appends a comma if the list that began at start has something already.
func comma(b []byte, start int) []byte {
	if len(b) == start {
		return b
	}
	return append(b, ',')
}

// appendHex appends v in hexadecimal after 0x.
func appendHex(b []byte, v uint64) []byte { return flow.AppendHex(append(b, "0x"...), v) }

// header is a group of fields that one set() action writes.
type header struct {
	name   string
	fields []member
	whole  bool     // all fields are written if one is
	mask   flow.Key // where they are in a key; tos has ecn with it
	words  uint64   // the words of mask that are not 0
}

// member is a field of a header and its name there.
type member struct {
	name  string
	field openflow.Field
}

// headers in the order in which OVS rewrites them.
var headers = placed([]header{
	{name: "eth", fields: []member{{"src", openflow.EthSrc}, {"dst", openflow.EthDst}}},
	{name: "ipv4", fields: []member{{"src", openflow.IPSrc}, {"dst", openflow.IPDst}, {"tos", openflow.IPDSCP}, {"ttl", openflow.IPTTL}}},
	{name: "ipv6", fields: []member{{"src", openflow.IPv6Src}, {"dst", openflow.IPv6Dst}, {"label", openflow.IPv6Label}}},
	{name: "arp", fields: []member{{"sip", openflow.ARPSpa}, {"tip", openflow.ARPTpa}, {"op", openflow.ARPOp}, {"sha", openflow.ARPSha}, {"tha", openflow.ARPTha}}},
	{name: "icmp", fields: []member{{"type", openflow.ICMPType}, {"code", openflow.ICMPCode}}, whole: true},
	{name: "tcp", fields: []member{{"src", openflow.TCPSrc}, {"dst", openflow.TCPDst}}},
	{name: "udp", fields: []member{{"src", openflow.UDPSrc}, {"dst", openflow.UDPDst}}},
	{name: "sctp", fields: []member{{"src", openflow.SCTPSrc}, {"dst", openflow.SCTPDst}}},
})

// placed is headers that know where their fields are.
func placed(all []header) []header {
	for i := range all {
		h := &all[i]
		for _, m := range h.fields {
			h.cover(m.field)
			if m.field == openflow.IPDSCP {
				h.cover(openflow.IPECN)
			}
		}
		h.words = h.mask.Used()
	}
	return all
}

func (h *header) cover(f openflow.Field) {
	mask := flow.Mask(f)
	for w := range mask {
		h.mask[w] |= mask[w]
	}
}

// touched reports whether the header's bits differ. Of the words of the keys, changed do.
func (h *header) touched(from, to *flow.Key, changed uint64) bool {
	for words := changed & h.words; words != 0; words &= words - 1 {
		w := bits.TrailingZeros64(words)
		if (from[w]^to[w])&h.mask[w] != 0 {
			return true
		}
	}
	return false
}

// appendSets tells which headers differ between two keys.
func appendSets(b []byte, from, to *flow.Key) []byte {
	start, changed := len(b), to.Changed(from)
	for i := range headers {
		h := &headers[i]
		if !h.touched(from, to, changed) {
			continue
		}
		before := len(b)
		b = append(append(append(comma(b, start), "set("...), h.name...), '(')
		first := len(b)
		for _, m := range h.fields {
			switch v := to.Get(m.field); {
			case m.field == openflow.IPDSCP:
				if flow.Present(to, m.field) {
					b = appendTOS(b, first, from, to)
				}
			case (h.whole || v != from.Get(m.field)) && flow.Present(to, m.field):
				b = append(append(comma(b, first), m.name...), '=')
				b = m.field.AppendValue(b, v)
			}
		}
		if len(b) == first { // no field differs
			b = b[:before]
			continue
		}
		b = append(b, "))"...)
	}
	if changed&flow.TagWords == 0 {
		return b
	}
	return appendTags(b, start, from.Tags(), to.Tags())
}

// appendTOS tells which of the two fields of the TOS byte differ, in a list of fields that began at start.
func appendTOS(b []byte, start int, from, to *flow.Key) []byte {
	dscp, ecn := to.Get(openflow.IPDSCP), to.Get(openflow.IPECN)
	mask := uint64(0)
	if dscp != from.Get(openflow.IPDSCP) {
		mask |= 0xfc
	}
	if ecn != from.Get(openflow.IPECN) {
		mask |= 0x03
	}
	if mask == 0 {
		return b
	}
	b = fmt.Appendf(comma(b, start), "tos=%#x", (dscp.Lo<<2|ecn.Lo)&mask)
	if mask != 0xff {
		b = appendHex(append(b, '/'), mask)
	}
	return b
}

// appendTags tells how tags become others: those in front of the common inner ones come off, and
// the new ones go on. It goes on with a list of actions that began at start.
func appendTags(b []byte, start int, from, to []uint32) []byte {
	for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	for range from {
		b = append(comma(b, start), "pop_vlan"...)
	}
	for _, tag := range slices.Backward(to) {
		b = append(comma(b, start), "push_vlan("...)
		if tag>>16 != openflow.EthTypeVLAN {
			b = fmt.Appendf(b, "tpid=%#x,", tag>>16)
		}
		b = fmt.Appendf(b, "vid=%d,pcp=%d)", tag&0xfff, tag>>13&7)
	}
	return b
}

func appendLabel(b []byte, l conntrack.Label) []byte {
	if l.Hi != 0 {
		return l.Append(b)
	}
	return appendHex(b, l.Lo)
}

func appendCT(b []byte, st *step) []byte {
	b = append(b, "ct("...)
	r, start := st.request, len(b)
	switch {
	case r.Force:
		b = append(b, "force_commit"...)
	case r.Commit:
		b = append(b, "commit"...)
	}
	if r.Zone != 0 {
		b = strconv.AppendUint(append(comma(b, start), "zone="...), uint64(r.Zone), 10)
	}
	if r.MarkMask != 0 {
		b = fmt.Appendf(comma(b, start), "mark=%#x/%#x", r.Mark, r.MarkMask)
	}
	if r.LabelMask != (conntrack.Label{}) {
		b = appendLabel(append(comma(b, start), "label="...), r.Label)
		b = appendLabel(append(b, '/'), r.LabelMask)
	}
	if r.NAT.Kind != conntrack.NATNone {
		b = r.NAT.Append(comma(b, start))
	}
	if len(b) == start {
		b = b[:start-1]
	} else {
		b = append(b, ')')
	}
	if st.recirc {
		b = append(strconv.AppendUint(append(b, ",recirc(table "...), uint64(st.table), 10), ')')
	}
	return b
}
