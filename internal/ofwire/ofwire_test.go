package ofwire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
	"hpnn/internal/ofwire"
)

// spelled is a change as OpenFlow 1.5 spells it.
func spelled(m of.FlowMod) of.FlowMod {
	m.Flow.Actions = ofwire.Spell(m.Flow.Match, m.Flow.Actions)
	return m
}

func requireSame(t *testing.T, want, got of.FlowMod) {
	t.Helper()
	require.Equal(t, want.String(), got.String())
	require.True(t, want.Flow.Equal(got.Flow), "%v\n%v", want, got)
	require.Equal(t, [3]any{want.Command, want.OutPort, want.CookieMask}, [3]any{got.Command, got.OutPort, got.CookieMask})
}

// requireRoundTrip demands that a change is what it becomes when it is encoded and decoded.
func requireRoundTrip(t *testing.T, m of.FlowMod) {
	t.Helper()
	b, err := ofwire.AppendFlowMod(nil, m)
	require.NoError(t, err, "%v", m)
	require.Zero(t, len(b)%8, "%v", m)
	again, err := ofwire.DecodeFlowMod(b)
	require.NoError(t, err, "%v\n%x", m, b)
	requireSame(t, spelled(m), again)
}

func TestChangesComeBack(t *testing.T) {
	g := openflowtest.New(1)
	for range 2000 {
		requireRoundTrip(t, g.FlowMod())
	}
}

// Every kind of action, which random lists may seldom hold, comes back.
func TestEveryKindOfActionComesBack(t *testing.T) {
	g := openflowtest.New(2)
	for _, kind := range openflowtest.Kinds() {
		seen := 0
		for range 100 {
			m := g.Match()
			if a := g.Action(kind, m, 3); a != nil {
				requireRoundTrip(t, of.FlowMod{Flow: of.Flow{Table: 3, Match: m, Actions: []of.Action{a}}})
				seen++
			}
		}
		require.NotZero(t, seen, kind)
	}
}

// Encoding appends, and leaves alone what was there.
func TestAppendFlowModAppends(t *testing.T) {
	m := of.FlowMod{Flow: of.Flow{Table: 3, Match: of.Match{}.With(of.Reg1, of.U64(5)), Actions: []of.Action{of.Output{Port: 2}}}}
	alone, err := ofwire.AppendFlowMod(nil, m)
	require.NoError(t, err)
	b, err := ofwire.AppendFlowMod([]byte("abc"), m)
	require.NoError(t, err)
	require.Equal(t, "abc"+string(alone), string(b))
}

// What cannot be said is named, and nothing of it is left behind.
func TestWhatCannotBeSaidIsNamed(t *testing.T) {
	tagless := of.Match{}.WithMask(of.VLANTCI, of.U64(0x2000), of.U64(0xe000))
	long := make([]of.Action, 5000)
	for i := range long {
		long[i] = of.Output{Port: 1}
	}
	for _, row := range []struct {
		mod  of.FlowMod
		want string
	}{
		{of.FlowMod{Flow: of.Flow{Match: tagless}}, `"vlan_tci=0x2000/0xe000": a priority needs a tag`},
		{of.FlowMod{Command: 9}, "unknown command"},
		{action(of.Multipath{Fields: 99, Links: 1, Dst: of.Whole(of.Reg0)}), "multipath(unknown"},
		{action(of.SetField{Field: 250}), "unknown field"},
		{action(of.SetField{Field: of.Reg0, Value: of.Ones(40), Mask: of.Ones(40)}), `"reg0": value or mask is wider`},
		{action(of.Move{Src: of.Whole(of.EthSrc), Dst: of.Whole(of.Reg0)}), "move:NXM_OF_ETH_SRC[]->NXM_NX_REG0[]"},
		{action(of.Push{Src: of.Subfield{Field: 250, Width: 1}}), "unknown field"},
		{action(of.OutputField{Src: of.Whole(of.XXReg0)}), "1 to 64 bits"},
		{action(of.CT{Recirc: true, Table: 255}), "no such table"},
		{action(of.CT{NAT: &of.NAT{Kind: 7}}), "unknown kind"},
		{action(of.CT{NAT: &of.NAT{Kind: of.NATSrc, Addr: [2]of.Value{of.U64(2), of.U64(1)}}}), "a range is empty"},
		{action(of.Learn{Specs: []of.LearnSpec{of.LearnLoadValue{Value: of.U64(16), Dst: of.Subfield{Field: of.Reg0, Width: 4}}}}), "does not fit"},
		{action(of.Learn{Specs: []of.LearnSpec{of.LearnMatchField{Src: of.Whole(of.EthSrc), Dst: of.Whole(of.Reg0)}}}), "differ in width"},
		{action(of.Learn{Specs: []of.LearnSpec{of.LearnOutput{}}}), "no such bits"},
		{action(of.Note{Data: "123"}), "length"},
		{action(of.CheckPacketLarger{Dst: of.Whole(of.Reg0)}), "one bit"},
		{action(of.WriteActions{}), "empty action set"},
		{action(of.Clone{Actions: []of.Action{of.GotoTable{Table: 3}}}), `"goto_table:3": cannot stand here`},
		{action(of.GotoTable{Table: 3}, of.Output{Port: 1}), `"output:1": is out of order`},
		{action(long...), "longer than 65535 bytes"},
	} {
		b, err := ofwire.AppendFlowMod([]byte("abc"), row.mod)
		var unsupported *ofwire.UnsupportedError
		require.ErrorAs(t, err, &unsupported, row.want)
		require.ErrorContains(t, err, row.want)
		require.Equal(t, "abc", string(b))
	}
}

func action(list ...of.Action) of.FlowMod { return of.FlowMod{Flow: of.Flow{Actions: list}} }

// A message that is cut off anywhere is refused.
func TestCutOffMessagesAreRefused(t *testing.T) {
	g := openflowtest.New(3)
	for range 50 {
		b, err := ofwire.AppendFlowMod(nil, g.FlowMod())
		require.NoError(t, err)
		for n := range len(b) {
			if m, err := ofwire.DecodeFlowMod(b[:n]); err == nil {
				short, err := ofwire.AppendFlowMod(nil, m) // it may end where an instruction does
				require.NoError(t, err)
				require.Equal(t, b[:n], short)
			}
		}
	}
}

// Whatever is decoded encodes, and decodes to the same again.
func FuzzDecodeFlowMod(f *testing.F) {
	g := openflowtest.New(4)
	for range 200 {
		b, err := ofwire.AppendFlowMod(nil, g.FlowMod())
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ofwire.DecodeFlowMod(b)
		if err != nil {
			return
		}
		encoded, err := ofwire.AppendFlowMod(nil, m)
		if err != nil {
			return // values that no text could say, but that a switch might send
		}
		again, err := ofwire.DecodeFlowMod(encoded)
		require.NoError(t, err, "%v", m)
		requireSame(t, m, again)
	})
}

// A reply, whatever it holds, reads or is refused.
func FuzzAppendEntries(f *testing.F) {
	f.Add([]byte{})
	f.Add(recordedReply)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = ofwire.AppendEntries(nil, b)
	})
}

var recordedReply = []byte{0}
