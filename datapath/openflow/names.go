package openflow

import "strings"

// fieldName is one thing that a name may mean. Which, if there are several, is for the
// protocol of the match to say.
type fieldName struct {
	field Field
	tos   bool // the name speaks of the whole TOS byte, of which the field is the upper six bits
}

// meaning is all that a word may mean before "=" or "->", or alone in a match.
type meaning struct {
	actions bool     // what follows are the actions of a flow
	flow    *flowKey // it is a property of a flow, and no condition
	fields  []fieldName
	header  bool      // it is an NXM or OXM name
	proto   *protocol // it is a keyword
	settles Field     // EthType or IPProto, which its value settles for the whole match
	tag     bool      // it is one of the three ways to match a tag
}

// meanings tells what each word means: the fields' names and aliases, their NXM and OXM names, the
// names that OpenFlow 1.0 shares between protocols, and the keywords.
var meanings = makeMeanings()

func makeMeanings() map[string]*meaning {
	all := map[string]*meaning{}
	for name, fields := range makeFieldNames() {
		all[name] = &meaning{fields: fields, header: text{name, 0}.isHeader()}
	}
	for i := range protocols {
		all[protocols[i].word] = &meaning{proto: &protocols[i]}
	}
	all["eth"] = &meaning{proto: &protocol{"eth", 0, -1}}
	for _, name := range []string{"dl_type", "eth_type"} {
		all[name].settles = EthType
	}
	for _, name := range []string{"nw_proto", "ip_proto"} {
		all[name].settles = IPProto
	}
	for _, name := range []string{"dl_vlan", "vlan_vid", "vlan_tci"} {
		all[name].tag = true
	}
	return all
}

// fieldsNamed lists the fields that a name may mean.
func fieldsNamed(name string) []fieldName {
	if m := meanings[name]; m != nil {
		return m.fields
	}
	return nil
}

func makeFieldNames() map[string][]fieldName {
	names := map[string][]fieldName{}
	add := func(name string, f Field) {
		for _, known := range names[name] {
			if known.field == f {
				return
			}
		}
		names[name] = append(names[name], fieldName{field: f})
	}
	for _, f := range Fields() {
		i := f.info()
		for _, name := range append([]string{i.name, i.oxm, i.header}, append(i.aliases, i.headers...)...) {
			if name != "" {
				add(name, f)
			}
		}
	}
	for _, shared := range []struct {
		name string
		f    Field
	}{
		{"nw_src", ARPSpa}, {"nw_dst", ARPTpa}, {"nw_proto", ARPOp},
		{"tp_src", ICMPType}, {"tp_dst", ICMPCode}, {"tp_src", ICMPv6Type}, {"tp_dst", ICMPv6Code},
	} {
		add(shared.name, shared.f)
	}
	tos := []fieldName{{field: IPDSCP, tos: true}}
	names["nw_tos"], names["NXM_OF_IP_TOS"] = tos, tos
	return names
}

// foreignFields are the beginnings of names of fields that OVS has and this package has not.
var foreignFields = []string{
	"tun_", "mpls_", "nsh_", "recirc_id", "dp_hash", "actset_output", "conj_id", "skb_priority", "packet_type",
	"nd_reserved", "nd_options_type", "tcp_option", "nw_igmp",
	"NXM_NX_TUN_", "NXM_NX_MPLS_", "OXM_OF_MPLS_", "OXM_OF_PBB_", "NXM_NX_RECIRC_ID", "NXM_NX_DP_HASH", "NXM_NX_CONJ_ID",
	"OXM_OF_ACTSET_OUTPUT", "ONFOXM_ET_ACTSET_OUTPUT", "OXM_OF_PACKET_TYPE", "NXOXM_", "ERICOXM_",
}

// isHeader reports whether t looks like an NXM or OXM name.
func (t text) isHeader() bool { return strings.Contains(t.s, "_OF_") || strings.Contains(t.s, "_NX_") }

// unknownField explains why name is not a field.
func unknownField(name text) error {
	for _, prefix := range foreignFields {
		if strings.HasPrefix(name.s, prefix) {
			return name.fault("field is not supported", "")
		}
	}
	if fieldsNamed(strings.ToLower(name.s)) != nil {
		return name.fault("unknown field", "write "+strings.ToLower(name.s))
	}
	if fieldsNamed(strings.ToUpper(name.s)) != nil {
		return name.fault("unknown field", "write "+strings.ToUpper(name.s))
	}
	return name.fault("unknown field", "see ovs-fields(7)")
}
