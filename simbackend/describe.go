package simbackend

import (
	"fmt"
	"slices"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// describe prints steps as ofproto/trace prints datapath actions, with OpenFlow port numbers.
func describe(steps []step, keys []flow.Key, base *flow.Key) string {
	if len(steps) == 0 {
		return "drop"
	}
	var parts []string
	for i := 0; i < len(steps); i++ {
		switch st := &steps[i]; st.kind {
		case stepSet:
			parts = append(parts, describeSet(base, &keys[st.key])...)
			base = &keys[st.key]
		case stepOutput:
			parts = append(parts, fmt.Sprint(st.port))
		case stepController:
			parts = append(parts, fmt.Sprintf("userspace(controller(reason=%d,id=%d))", st.reason, st.id))
		case stepCT:
			parts = append(parts, describeCT(st))
		case stepCTClear:
			parts = append(parts, "ct_clear")
		case stepClone:
			parts = append(parts, "clone("+describe(steps[i+1:i+1+int(st.n)], keys, base)+")")
			i += int(st.n)
		}
	}
	return strings.Join(parts, ",")
}

// header is a group of fields that one set() action writes.
type header struct {
	name   string
	fields []member
	whole  bool // all fields are written if one is
}

// differs reports whether any field of the header does.
func (h header) differs(from, to *flow.Key) bool {
	return slices.ContainsFunc(h.fields, func(m member) bool { return from.Get(m.field) != to.Get(m.field) })
}

// member is a field of a header and its name there.
type member struct {
	name  string
	field openflow.Field
}

// headers in the order in which OVS rewrites them.
var headers = []header{
	{"eth", []member{{"src", openflow.EthSrc}, {"dst", openflow.EthDst}}, false},
	{"ipv4", []member{{"src", openflow.IPSrc}, {"dst", openflow.IPDst}, {"tos", openflow.IPDSCP}, {"ttl", openflow.IPTTL}}, false},
	{"ipv6", []member{{"src", openflow.IPv6Src}, {"dst", openflow.IPv6Dst}, {"label", openflow.IPv6Label}}, false},
	{"arp", []member{{"sip", openflow.ARPSpa}, {"tip", openflow.ARPTpa}, {"op", openflow.ARPOp}, {"sha", openflow.ARPSha}, {"tha", openflow.ARPTha}}, false},
	{"icmp", []member{{"type", openflow.ICMPType}, {"code", openflow.ICMPCode}}, true},
	{"tcp", []member{{"src", openflow.TCPSrc}, {"dst", openflow.TCPDst}}, false},
	{"udp", []member{{"src", openflow.UDPSrc}, {"dst", openflow.UDPDst}}, false},
	{"sctp", []member{{"src", openflow.SCTPSrc}, {"dst", openflow.SCTPDst}}, false},
}

// describeSet tells which headers differ between two keys.
func describeSet(from, to *flow.Key) []string {
	var sets []string
	for _, h := range headers {
		var changed []string
		for _, m := range h.fields {
			switch v := to.Get(m.field); {
			case !flow.Present(to, m.field):
			case m.field == openflow.IPDSCP:
				changed = append(changed, describeTOS(from, to)...)
			case v != from.Get(m.field), h.whole && h.differs(from, to):
				changed = append(changed, m.name+"="+m.field.Format(v))
			}
		}
		if changed != nil {
			sets = append(sets, fmt.Sprintf("set(%s(%s))", h.name, strings.Join(changed, ",")))
		}
	}
	return append(sets, describeTags(from.Tags(), to.Tags())...)
}

// describeTOS tells which of the two fields of the TOS byte differ.
func describeTOS(from, to *flow.Key) []string {
	dscp, ecn := to.Get(openflow.IPDSCP), to.Get(openflow.IPECN)
	mask := 0
	if dscp != from.Get(openflow.IPDSCP) {
		mask |= 0xfc
	}
	if ecn != from.Get(openflow.IPECN) {
		mask |= 0x03
	}
	switch tos := int(dscp.Lo<<2|ecn.Lo) & mask; mask {
	case 0:
		return nil
	case 0xff:
		return []string{fmt.Sprintf("tos=%#x", tos)}
	default:
		return []string{fmt.Sprintf("tos=%#x/%#x", tos, mask)}
	}
}

// describeTags tells how tags become others: those in front of the common inner ones come off, and
// the new ones go on.
func describeTags(from, to []uint32) (steps []string) {
	for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	for range from {
		steps = append(steps, "pop_vlan")
	}
	for _, tag := range slices.Backward(to) {
		tpid := ""
		if tag>>16 != openflow.EthTypeVLAN {
			tpid = fmt.Sprintf("tpid=%#x,", tag>>16)
		}
		steps = append(steps, fmt.Sprintf("push_vlan(%svid=%d,pcp=%d)", tpid, tag&0xfff, tag>>13&7))
	}
	return steps
}

func describeCT(st *step) string {
	r := st.request
	var parts []string
	switch {
	case r.Force:
		parts = append(parts, "force_commit")
	case r.Commit:
		parts = append(parts, "commit")
	}
	if r.Zone != 0 {
		parts = append(parts, fmt.Sprintf("zone=%d", r.Zone))
	}
	if r.MarkMask != 0 {
		parts = append(parts, fmt.Sprintf("mark=%#x/%#x", r.Mark, r.MarkMask))
	}
	if r.LabelMask != (conntrack.Label{}) {
		parts = append(parts, fmt.Sprintf("label=%v/%v", r.Label, r.LabelMask))
	}
	if r.NAT.Kind != conntrack.NATNone {
		parts = append(parts, r.NAT.String())
	}
	text := "ct"
	if len(parts) > 0 {
		text += "(" + strings.Join(parts, ",") + ")"
	}
	if st.recirc {
		text += fmt.Sprintf(",recirc(table %d)", st.table)
	}
	return text
}
