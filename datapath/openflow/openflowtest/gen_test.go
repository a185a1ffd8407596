package openflowtest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

func TestSameSeedSameValues(t *testing.T) {
	a, b := openflowtest.New(1), openflowtest.New(1)
	for range 200 {
		require.Equal(t, a.Flow().String(), b.Flow().String())
		require.Equal(t, a.FlowMod().String(), b.FlowMod().String())
	}
}

func TestEverythingIsValid(t *testing.T) {
	g := openflowtest.New(2)
	for range 1000 {
		require.NoError(t, g.Flow().Validate())
		require.NoError(t, g.Entry().Validate())
		require.NoError(t, g.FlowMod().Validate())
		require.NoError(t, g.Match().Validate())
	}
	require.Equal(t, 20, g.Program(20).Len())
}

func TestLimitsAreKept(t *testing.T) {
	g := openflowtest.New(3)
	g.Ports = []openflow.PortNo{42}
	g.Tables = 2
	g.Fields = []openflow.Field{openflow.Reg0, openflow.InPort}
	g.Kinds = []openflowtest.Kind{"Output", "SetField", "Move"}
	g.Values = func(f openflow.Field) (openflow.Value, bool) { return openflow.U64(7), f == openflow.Reg0 }
	for range 500 {
		f := g.Flow()
		require.Less(t, f.Table, openflow.TableID(2))
		for _, term := range f.Match.Terms() {
			require.Contains(t, g.Fields, term.Field)
			if term.Field == openflow.Reg0 {
				require.Equal(t, openflow.U64(7).And(term.Mask), term.Value)
			}
		}
		for _, a := range f.Actions {
			switch a := a.(type) {
			case openflow.Output:
				require.True(t, a.Port == 42 || a.Port >= openflow.PortMax, "%v", a)
			case openflow.SetField:
				require.Contains(t, g.Fields, a.Field)
			case openflow.Move:
				require.Contains(t, g.Fields, a.Src.Field)
			default:
				t.Fatalf("%v is not among the kinds", a)
			}
		}
	}
}

// Kinds cannot be changed through the list of them.
func TestKindsAreACopy(t *testing.T) {
	first := openflowtest.Kinds()
	slices.Reverse(first)
	require.NotEqual(t, first, openflowtest.Kinds())
}
