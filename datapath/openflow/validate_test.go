package openflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

var (
	anyIP  = Match{}.With(EthType, U64(EthTypeIPv4))
	anyTCP = anyIP.With(IPProto, U64(ProtoTCP))
)

// Values made in Go, which no text could say, are refused, too.
func TestValidateRefusesWhatCannotBeWritten(t *testing.T) {
	deep := Action(Output{1})
	for range 20 {
		deep = Clone{[]Action{deep}}
	}
	long := [2]Value{Ones(40), Ones(40)}
	one := [2]Value{U64(1), U64(1)}
	for _, row := range []struct {
		match  Match
		action Action
		want   string
	}{
		{Match{}, SetField{Reg0, U64(1), Value{}}, "changes nothing"},
		{Match{}, SetField{Reg0, U64(3), U64(1)}, "outside its mask"},
		{Match{}, SetField{Reg0, Ones(40), Ones(40)}, "does not fit"},
		{Match{}, SetField{FieldNone, Value{}, U64(1)}, "unknown field"},
		{anyIP, SetField{IPTTL, U64(1), U64(5)}, "no such mask"},
		{Match{}, SetField{CTMark, U64(1), U64(1)}, "only inside ct"},
		{Match{}, Push{Subfield{Reg0, 30, 4}}, "only 32 bits"},
		{Match{}, Push{Subfield{Reg0, 0, 0}}, "only 32 bits"},
		{Match{}, Push{Subfield{}}, "unknown field"},
		{Match{}, Push{Subfield{Field(250), 0, 1}}, "unknown field"},
		{Match{}, Pop{Whole(CTZone)}, "read-only"},
		{Match{}, Output{PortController}, "action of its own"},
		{Match{}, Output{PortNone}, "cannot be sent there"},
		{Match{}, Output{PortMax}, "cannot be sent there"},
		{Match{}, Enqueue{Port: PortFlood}, "no queues"},
		{Match{}, Controller{Reason: 9}, "unknown reason"},
		{Match{}, SetVLANVID{VID: 4096}, "12 bits"},
		{Match{}, SetVLANPCP{PCP: 8}, "3 bits"},
		{Match{}.With(VLANVID, U64(3)), SetVLANVID{VID: 5}, "set the field instead"},
		{Match{}, PushVLAN{EthType: 1}, "not a VLAN"},
		{Match{}, Multipath{Fields: 99, Links: 1, Dst: Whole(Reg0)}, "unknown hash"},
		{Match{}, Multipath{Algorithm: 99, Links: 1, Dst: Whole(Reg0)}, "unknown hash"},
		{Match{}, Multipath{Links: 1, Dst: Whole(XXReg0)}, "more than 64 bits"},
		{Match{}, Note{"123"}, "length must be"},
		{Match{}, WriteMetadata{1, 0}, "mask does not cover"},
		{Match{}, WriteMetadata{2, 1}, "mask does not cover"},
		{Match{}, deep, "nested too deep"},
		{anyIP, CT{Zone: 1, ZoneSrc: Subfield{Reg0, 0, 16}}, "zone is given twice"},
		{anyIP, CT{ALG: 5}, "unknown application helper"},
		{anyIP, CT{NAT: &NAT{Random: true}}, "takes no arguments"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: 7}}, "unknown kind"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Addr: long}}, "wider than 32 bits"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Addr: [2]Value{U64(2), U64(1)}}}, "upside down"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Addr: [2]Value{{}, U64(1)}}}, "cannot start at zero"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Addr: one, Port: [2]uint16{0, 5}}}, "range of ports is empty"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Port: [2]uint16{5, 5}}}, "without an address"},
		{anyIP, CT{Commit: true, NAT: &NAT{Kind: NATSrc, Addr: one, IPv6: true}}, "another family"},
		{Match{}, Learn{Table: 255}, "no such table"},
		{Match{}, Learn{Specs: []LearnSpec{LearnMatchValue{Subfield{Reg0, 0, 4}, U64(16)}}}, "does not fit"},
		{Match{}, Learn{Specs: []LearnSpec{LearnLoadValue{U64(16), Subfield{Reg0, 0, 4}}}}, "does not fit"},
		{Match{}, Learn{Specs: []LearnSpec{LearnLoadField{Whole(Reg0), Whole(XReg0)}}}, "32 bits wide"},
		{Match{}, Learn{Specs: []LearnSpec{LearnLoadValue{U64(5), Whole(VLANVID)}}}, "bit 0x1000"},
		{Match{}, Learn{Specs: []LearnSpec{LearnLoadValue{U64(5), Whole(CTState)}}}, "read-only"},
	} {
		err := Flow{Match: row.match, Actions: []Action{row.action}}.Validate()
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, "%v", row.action)
		require.ErrorContains(t, err, row.want, "%v", row.action)
	}
}

func TestValidateRefusesMatches(t *testing.T) {
	for _, row := range []struct {
		match Match
		want  string
	}{
		{Match{}.With(TCPDst, U64(80)), `"tp_dst=80": needs tcp: add tcp or tcp6`},
		{anyTCP.With(UDPDst, U64(80)), `"tp_dst=80": needs udp: add udp or udp6`},
		{Match{}.With(IPSrc, U64(1)), `"nw_src=0.0.0.1": needs ip: add ip`},
		{anyIP.WithMask(IPTTL, U64(1), U64(1)), `"nw_ttl=0x1/0x1": nw_ttl takes no mask: match all of it`},
		{Match{}.With(CTState, U64(0x100)), `"ct_state=0x100": unknown connection state bits: at most 0xff`},
		{Match{}.With(EthType, U64(EthTypeARP)).With(ARPOp, U64(300)), `"arp_op=300": OVS keeps only 8 bits of arp_op: at most 255`},
		{anyIP.With(IPFrag, U64(2)), `"nw_frag=0x2/0x3": no frame is a later fragment without being a fragment: write later`},
		{Match{}.With(InPort, U64(0xfffa)), `"in_port=NORMAL": no frame comes from such a port: write the number of a port, LOCAL, CONTROLLER or ANY`},
		{Match{}.With(VLANTCI, U64(5)), `"vlan_tci=0x0005": no untagged frame has a VLAN id or priority: set bit 0x1000 for a tagged frame`},
	} {
		require.EqualError(t, row.match.Validate(), row.want)
	}
}

func TestValidateFlowMod(t *testing.T) {
	for _, row := range []struct {
		change FlowMod
		want   string
	}{
		{FlowMod{Command: Add, CookieMask: 1}, "cookie mask"},
		{FlowMod{Command: Add, OutPort: 1}, "output port"},
		{FlowMod{Command: Modify, OutPort: 1}, "output port"},
		{FlowMod{Command: Modify, Flow: Flow{Cookie: 5}}, "sets the cookie"},
		{FlowMod{Command: ModifyStrict, Flow: Flow{IdleTimeout: 5}}, "sets timeouts"},
		{FlowMod{Command: Modify, Flow: Flow{Table: CurrentTable}}, "no such table"},
		{FlowMod{Command: Delete, Flow: Flow{Actions: []Action{Output{1}}}}, "no actions"},
		{FlowMod{Command: Delete, Flow: Flow{Table: 254}}, "no such table"},
		{FlowMod{Flow: Flow{Cookie: ^uint64(0)}}, "reserved"},
	} {
		require.ErrorContains(t, row.change.Validate(), row.want)
	}
	require.NoError(t, FlowMod{Command: Delete, Flow: Flow{Table: CurrentTable, Cookie: ^uint64(0)}, CookieMask: ^uint64(0)}.Validate())
}
