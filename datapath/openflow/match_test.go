package openflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// frames are all frames of a tiny world: three bits of reg0 and two of metadata.
func frames(visit func(reg, meta uint64)) {
	for reg := range uint64(8) {
		for meta := range uint64(4) {
			visit(reg, meta)
		}
	}
}

// tiny is a random match of that world.
func tiny(g *openflowtest.Gen) Match {
	return Match{}.
		WithMask(Reg0, U64(g.Uint64N(8)), U64(g.Uint64N(8))).
		WithMask(Metadata, U64(g.Uint64N(4)), U64(g.Uint64N(4)))
}

// holds looks at every condition.
func holds(m Match, reg, meta uint64) bool {
	for _, t := range m.Terms() {
		have := map[Field]Value{Reg0: U64(reg), Metadata: U64(meta)}[t.Field]
		if have.And(t.Mask) != t.Value {
			return false
		}
	}
	return true
}

func TestCoversAndOverlapsAgreeWithEnumeration(t *testing.T) {
	g := openflowtest.New(31)
	for range 3000 {
		a, b := tiny(g), tiny(g)
		covers, overlaps := true, false
		frames(func(reg, meta uint64) {
			covers = covers && (!holds(b, reg, meta) || holds(a, reg, meta))
			overlaps = overlaps || holds(a, reg, meta) && holds(b, reg, meta)
		})
		require.Equal(t, covers, a.Covers(b), "%v covers %v", a, b)
		require.Equal(t, overlaps, a.Overlaps(b), "%v overlaps %v", a, b)
		require.Equal(t, overlaps, b.Overlaps(a))
		require.Equal(t, a.Equal(b), a.Covers(b) && b.Covers(a))
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	g := openflowtest.New(32)
	for range 3000 {
		a, b, c := tiny(g), tiny(g), tiny(g)
		require.Equal(t, a.Equal(b), a.Compare(b) == 0)
		require.Equal(t, a.Compare(b) < 0, b.Compare(a) > 0)
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 {
			require.LessOrEqual(t, a.Compare(c), 0)
		}
	}
}

func TestMatchHasOneFormForOneMeaning(t *testing.T) {
	for _, row := range []struct {
		match Match
		want  string
	}{
		{Match{}.With(XReg0, U64(1)), "reg0=0,reg1=0x1"},
		{Match{}.With(XXReg1, Value{1 << 32, 5}), "reg4=0x1,reg5=0,reg6=0,reg7=0x5"},
		{Match{}.WithMask(XReg3, U64(5), U64(0xff)), "reg7=0x5/0xff"},
		{Match{}.With(VLANVID, U64(5)), "dl_vlan=5"},
		{Match{}.With(VLANPCP, U64(3)), "dl_vlan_pcp=3"},
		{Match{}.With(VLANVID, U64(5)).With(VLANPCP, U64(3)), "dl_vlan=5,dl_vlan_pcp=3"},
		{Match{}.With(VLANTCI, Value{}), "vlan_tci=0x0000/0x1fff"},
		{Match{}.With(CTState, U64(0x21)), "ct_state=new|trk"},
		{Match{}.WithMask(CTState, U64(0x21), U64(0xff)), "ct_state=new|trk"},
		{Match{}.WithMask(CTState, Value{}, U64(0x100)), ""},
		{anyIP.WithMask(IPFrag, Value{}, U64(1)), "ip,nw_frag=no"},
		{anyIP.WithMask(IPFrag, U64(2), U64(2)), "ip,nw_frag=later"},
		{Match{}.WithMask(Reg0, U64(5), Value{}), ""},
		{Match{}.WithMask(Reg0, U64(0xff), U64(0xf)), "reg0=0xf/0xf"},
		{Match{}.WithMask(Reg0, U64(5), U64(0xf)).WithMask(Reg0, U64(0x66), U64(0xf6)), "reg0=0x67/0xff"},
	} {
		require.Equal(t, row.want, row.match.String())
	}
}

func TestMatchIsImmutable(t *testing.T) {
	base := Match{}.With(Reg1, U64(1))
	a, b := base.With(Reg2, U64(2)), base.With(Reg3, U64(3))
	_ = base.With(Reg1, U64(9))
	require.Equal(t, "reg1=0x1", base.String())
	require.Equal(t, "reg1=0x1,reg2=0x2", a.String())
	require.Equal(t, "reg1=0x1,reg3=0x3", b.String())
}

func TestMatchPanicsOnWideValues(t *testing.T) {
	require.PanicsWithValue(t, "openflow: nw_proto is 8 bits wide, value or mask is not", func() { Match{}.With(IPProto, U64(256)) })
}

// Every name in the table is known to the parser and leads back to its field.
func TestFieldNamesLeadBack(t *testing.T) {
	for _, f := range Fields() {
		require.NotZero(t, f.Width(), "%v", f)
		require.Equal(t, Ones(f.Width()), f.Mask())
		if f == VLANVID {
			continue // its bits alone are not for matches
		}
		whole := Whole(f)
		actions, err := ParseActions("push:"+whole.String(), anyMatchWith(f))
		require.NoError(t, err, "%v", f)
		require.Equal(t, []Action{Push{whole}}, actions)
	}
}

// anyMatchWith is a match of frames that have f.
func anyMatchWith(f Field) Match {
	for _, m := range protocolMatches {
		if (Flow{Match: m, Actions: []Action{Push{Whole(f)}}}).Validate() == nil {
			return m
		}
	}
	return Match{}
}

var protocolMatches = func() []Match {
	v6 := Match{}.With(EthType, U64(EthTypeIPv6))
	all := []Match{{}, Match{}.With(VLANVID, U64(1)), Match{}.With(EthType, U64(EthTypeARP))}
	for _, ip := range []Match{anyIP, v6} {
		all = append(all, ip, ip.With(CTState, U64(uint64(CTTrk|CTEst))))
		for _, proto := range []uint64{ProtoTCP, ProtoUDP, ProtoSCTP, ProtoICMP, ProtoICMPv6} {
			all = append(all, ip.With(IPProto, U64(proto)))
		}
	}
	icmp6 := v6.With(IPProto, U64(ProtoICMPv6))
	return append(all, icmp6.With(ICMPv6Type, U64(135)), icmp6.With(ICMPv6Type, U64(136)))
}()
