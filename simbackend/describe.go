package simbackend

import (
	"fmt"
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
			parts = append(parts, "clone("+describe(steps[i+1:i+1+st.n], keys, base)+")")
			i += st.n
		}
	}
	return strings.Join(parts, ",")
}

// header is a group of fields that one set() action writes.
type header struct {
	name   string
	fields []member
}

// member is a field of a header and its name there.
type member struct {
	name  string
	field openflow.Field
}

// headers in the order in which OVS rewrites them.
var headers = []header{
	{"eth", []member{{"src", openflow.EthSrc}, {"dst", openflow.EthDst}}},
	{"ipv4", []member{{"src", openflow.IPSrc}, {"dst", openflow.IPDst}, {"dscp", openflow.IPDSCP}, {"ecn", openflow.IPECN}, {"ttl", openflow.IPTTL}}},
	{"ipv6", []member{{"src", openflow.IPv6Src}, {"dst", openflow.IPv6Dst}, {"label", openflow.IPv6Label}}},
	{"arp", []member{{"sip", openflow.ARPSpa}, {"tip", openflow.ARPTpa}, {"op", openflow.ARPOp}, {"sha", openflow.ARPSha}, {"tha", openflow.ARPTha}}},
	{"icmp", []member{{"type", openflow.ICMPType}, {"code", openflow.ICMPCode}}},
	{"tcp", []member{{"src", openflow.TCPSrc}, {"dst", openflow.TCPDst}}},
	{"udp", []member{{"src", openflow.UDPSrc}, {"dst", openflow.UDPDst}}},
	{"sctp", []member{{"src", openflow.SCTPSrc}, {"dst", openflow.SCTPDst}}},
}

// describeSet tells which headers differ between two keys.
func describeSet(from, to *flow.Key) []string {
	var sets []string
	for _, h := range headers {
		var changed []string
		for _, m := range h.fields {
			if v := to.Get(m.field); flow.Present(to, m.field) && v != from.Get(m.field) {
				changed = append(changed, m.name+"="+m.field.Format(v))
			}
		}
		if changed != nil {
			sets = append(sets, fmt.Sprintf("set(%s(%s))", h.name, strings.Join(changed, ",")))
		}
	}
	if tci := to.Get(openflow.VLANTCI).Lo; tci != from.Get(openflow.VLANTCI).Lo {
		sets = append(sets, describeTag(tci))
	}
	return sets
}

func describeTag(tci uint64) string {
	if tci&openflow.VLANPresent == 0 {
		return "pop_vlan"
	}
	return fmt.Sprintf("push_vlan(vid=%d,pcp=%d)", tci&0xfff, tci>>13)
}

func describeCT(st *step) string {
	r := &st.request
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
