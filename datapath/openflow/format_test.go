package openflow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

func TestFormatFlow(t *testing.T) {
	f := Flow{
		Table: 10, Priority: 200, Cookie: 0x1d, IdleTimeout: 5, Flags: SendFlowRem | NoByteCounts,
		Match: Match{}.With(EthType, U64(EthTypeIPv4)).With(IPProto, U64(ProtoTCP)).With(Reg0, U64(1)).
			WithMask(IPDst, U64(0x0a140000), PrefixMask(24, 32)).With(TCPDst, U64(80)),
		Actions: []Action{
			Set(IPDst, U64(0x0a140002)), Load(U64(5), Subfield{Reg1, 0, 4}), DecTTL{},
			CT{Commit: true, Recirc: true, Table: 3, Zone: 5, NAT: &NAT{Kind: NATDst, Addr: [2]Value{U64(0x0a000001), U64(0x0a000001)}, Port: [2]uint16{80, 80}},
				Exec: []Action{Set(CTMark, U64(7))}},
			Output{Port: 2}, Output{Port: PortIn},
		},
	}
	require.Equal(t, "cookie=0x1d, table=10, idle_timeout=5, send_flow_rem no_byte_counts priority=200,tcp,reg0=0x1,nw_dst=10.20.0.0/24,tp_dst=80 "+
		"actions=set_field:10.20.0.2->ip_dst,set_field:0x5/0xf->reg1,dec_ttl,"+
		"ct(commit,table=3,zone=5,nat(dst=10.0.0.1:80),exec(set_field:0x7->ct_mark)),output:2,IN_PORT", f.String())
	require.Equal(t, "table=0, priority=0 actions=drop", Flow{}.String())
}

func TestFormatEntry(t *testing.T) {
	e := FlowEntry{Flow: Flow{Priority: 5}, Stats: Stats{Packets: 3, Bytes: 129, Duration: 5012 * time.Millisecond, IdleAge: 5 * time.Second}}
	require.Equal(t, "cookie=0x0, duration=5.012s, table=0, n_packets=3, n_bytes=129, idle_age=5, hard_age=0, priority=5 actions=drop", e.String())
	e.Duration, e.HardAge, e.IdleAge = 7*time.Second+5, 7*time.Second+5, 1500*time.Millisecond
	require.Equal(t, "cookie=0x0, duration=7.000000005s, table=0, n_packets=3, n_bytes=129, idle_age=1.500, priority=5 actions=drop", e.String())
}

func TestFormatValue(t *testing.T) {
	for _, row := range []struct {
		field Field
		value Value
		want  string
	}{
		{IPDst, U64(0x0a000001), "10.0.0.1"},
		{EthSrc, U64(0x0242c0a80514), "02:42:c0:a8:05:14"},
		{IPv6Src, Value{0xfd00 << 48, 1}, "fd00::1"},
		{IPv6Src, U64(0x01020304), "::1.2.3.4"},
		{Reg0, U64(0x5a), "0x5a"},
		{Reg0, Value{}, "0"},
		{TCPDst, U64(80), "80"},
		{InPort, U64(uint64(PortLocal)), "LOCAL"},
		{IPDSCP, U64(8), "8"},
		{CTLabel, Value{1, 0}, "0x10000000000000000"},
	} {
		require.Equal(t, row.want, row.field.Format(row.value), "%v", row.field)
	}
}

// Names of what is out of range are words, not panics.
func TestNamesOfNonsense(t *testing.T) {
	require.Equal(t, "none", FieldNone.String())
	require.Equal(t, "none", Field(250).String())
	require.Equal(t, "unknown", HashFields(99).String())
	require.Equal(t, "unknown", HashAlgorithm(99).String())
	require.Equal(t, "unknown", PacketInReason(99).String())
	require.Equal(t, "unknown", Command(99).String())
	require.Equal(t, "5", ALG(5).String())
	require.Equal(t, "65300", PortNo(65300).String())
	require.Equal(t, "send_flow_rem no_byte_counts", (SendFlowRem | NoByteCounts).String())
}
