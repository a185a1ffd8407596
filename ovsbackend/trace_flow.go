package ovsbackend

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// field is a field and its value as ofproto/trace prints it. A word that names protocols, such as "tcp",
// has no value.
type field struct{ key, value string }

func (f field) String() string {
	if f.value == "" {
		return f.key
	}
	return f.key + "=" + f.value
}

// flowText is the fields of a frame, in the order in which ofproto/trace prints them.
type flowText struct{ fields []field }

func parseFlowText(s string) *flowText {
	f := &flowText{}
	for _, word := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(word, "=")
		f.fields = append(f.fields, field{key, value})
	}
	return f
}

// String is the flow as it was read, with what was set since.
func (f *flowText) String() string {
	words := make([]string, len(f.fields))
	for i, w := range f.fields {
		words[i] = w.String()
	}
	return strings.Join(words, ",")
}

func (f *flowText) clone() *flowText { return &flowText{slices.Clone(f.fields)} }

func (f *flowText) index(key string) int {
	return slices.IndexFunc(f.fields, func(w field) bool { return w.key == key })
}

// get is a field's value, "" if it is not there.
func (f *flowText) get(key string) string {
	if i := f.index(key); i >= 0 {
		return f.fields[i].value
	}
	return ""
}

// metadata are the fields that come before the protocol, in print order.
var metadata = []string{"pkt_mark", "recirc_id", "dp_hash", "skb_priority", "ct_state", "ct_zone", "ct_mark", "ct_label",
	"ct_nw_src", "ct_nw_dst", "ct_ipv6_src", "ct_ipv6_dst", "ct_nw_proto", "ct_tp_src", "ct_tp_dst"}

// set changes a field that is there, or inserts one of the metadata at its place. A zero that is not
// there stays so.
func (f *flowText) set(key, value string) {
	if i := f.index(key); i >= 0 {
		f.fields[i].value = value
		return
	}
	place := slices.Index(metadata, key)
	if place < 0 || value == "0" || value == "0x0" {
		return
	}
	at := 0
	for at < len(f.fields) && slices.Contains(metadata[:place], f.fields[at].key) {
		at++
	}
	f.fields = slices.Insert(f.fields, at, field{key, value})
}

// setEnd sets the address and port of one end, "src" or "dst".
func (f *flowText) setEnd(end string, a netip.Addr, port uint16) {
	f.set("nw_"+end, a.String())
	f.set("ipv6_"+end, a.String())
	f.set("tp_"+end, strconv.Itoa(int(port)))
}

// setOriginal sets the connection's original tuple.
func (f *flowText) setOriginal(t datapath.Tuple) {
	src, dst := "ct_nw_src", "ct_nw_dst"
	if t.Src.Is6() {
		src, dst = "ct_ipv6_src", "ct_ipv6_dst"
	}
	f.set(src, t.Src.String())
	f.set(dst, t.Dst.String())
	f.set("ct_nw_proto", strconv.Itoa(int(t.Proto)))
	sport, dport := t.SrcPort, t.DstPort
	if t.Proto == openflow.ProtoICMP || t.Proto == openflow.ProtoICMPv6 {
		sport, dport = uint16(t.Type), uint16(t.Code)
	}
	f.set("ct_tp_src", strconv.Itoa(int(sport)))
	f.set("ct_tp_dst", strconv.Itoa(int(dport)))
}

// protocolWords are the words that imply an IP protocol.
var protocolWords = map[string]uint8{
	"icmp": openflow.ProtoICMP, "tcp": openflow.ProtoTCP, "udp": openflow.ProtoUDP, "sctp": openflow.ProtoSCTP,
	"icmp6": openflow.ProtoICMPv6, "tcp6": openflow.ProtoTCP, "udp6": openflow.ProtoUDP, "sctp6": openflow.ProtoSCTP,
}

// proto is the flow's IP protocol, 0 if it has none.
func (f *flowText) proto() uint8 {
	for _, w := range f.fields {
		if p, ok := protocolWords[w.key]; ok && w.value == "" {
			return p
		}
	}
	n, err := strconv.ParseUint(orZero(f.get("nw_proto")), 10, 8)
	if err != nil {
		return 0
	}
	return uint8(n)
}

// exact is the flow as ofproto/trace reads it, which is not how it prints it: ports are named by their
// protocol, a tag is one field, and what cannot be matched may not be given.
func (f *flowText) exact() string {
	var words []string
	proto := f.proto()
	for _, w := range f.fields {
		if e, ok := exactField(w, proto, f.get("icmp_type")); ok {
			words = append(words, e.String())
		}
	}
	if vid := f.get("dl_vlan"); vid != "" {
		words = append(words, fmt.Sprintf("vlan_tci=%#04x", openflow.VLANPresent|atoi(f.get("dl_vlan_pcp"))<<13|atoi(vid)))
	}
	return strings.Join(words, ",")
}

// portNames are the names of ports by protocol. Others print ports, but have none that can be set.
var portNames = map[uint8]string{openflow.ProtoTCP: "tcp", openflow.ProtoUDP: "udp", openflow.ProtoSCTP: "sctp"}

func exactField(w field, proto uint8, icmpType string) (field, bool) {
	switch w.key {
	case "eth", "recirc_id", "dl_vlan", "dl_vlan_pcp", "vlan_tci1":
		return w, false
	case "tp_src", "tp_dst":
		name, ok := portNames[proto]
		return field{name + strings.TrimPrefix(w.key, "tp"), w.value}, ok
	case "icmp_type", "icmp_code":
		if proto == openflow.ProtoICMPv6 {
			w.key = "icmpv6" + strings.TrimPrefix(w.key, "icmp")
		}
	case "nd_sll": // of solicitations
		return w, icmpType == "135"
	case "nd_tll": // of advertisements
		return w, icmpType == "136"
	}
	return w, true
}

// atoi is a number that ofproto/trace has printed.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
