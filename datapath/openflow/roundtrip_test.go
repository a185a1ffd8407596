package openflow_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

func TestRoundTripFlow(t *testing.T) {
	g := openflowtest.New(1)
	for range 4000 {
		f := g.Flow()
		got, err := ParseFlow(f.String())
		require.NoError(t, err, "%v", f)
		require.True(t, f.Equal(got), "printed %v\nread    %v\n%#v\n%#v", f, got, f, got)
		require.Equal(t, f.String(), got.String())
	}
}

func TestRoundTripEntry(t *testing.T) {
	g := openflowtest.New(2)
	for range 1500 {
		e := g.Entry()
		got, err := ParseFlowEntry(e.String())
		require.NoError(t, err, "%v", e)
		require.True(t, e.Flow.Equal(got.Flow), "printed %v\nread    %v", e, got)
		require.Equal(t, e.Stats, got.Stats, "%v", e)
	}
}

func TestRoundTripFlowMod(t *testing.T) {
	g := openflowtest.New(3)
	for range 2000 {
		m := g.FlowMod()
		got, err := ParseFlowMod(m.String())
		require.NoError(t, err, "%v", m)
		require.True(t, m.Flow.Equal(got.Flow), "printed %v\nread    %v", m, got)
		m.Flow, got.Flow = Flow{}, Flow{}
		require.Equal(t, m, got)
	}
}

func TestRoundTripMatchAndActions(t *testing.T) {
	g := openflowtest.New(4)
	for range 2000 {
		m := g.Match()
		got, err := ParseMatch(m.String())
		require.NoError(t, err, "%v", m)
		require.True(t, m.Equal(got), "printed %v\nread    %v", m, got)
		actions := g.Actions(m, 0, 6)
		list, err := ParseActions(FormatActions(actions), m)
		require.NoError(t, err, "%v", FormatActions(actions))
		require.True(t, EqualActions(actions, list), "printed %v\nread    %v", FormatActions(actions), FormatActions(list))
	}
}

// Every kind of action is among what the generator makes, at the top and with its own parts.
func TestGeneratorCoversEveryAction(t *testing.T) {
	g := openflowtest.New(5)
	seen := map[string]bool{}
	for _, k := range openflowtest.Kinds() {
		for range 2000 {
			f := g.Flow()
			if a := g.Action(k, f.Match, f.Table); a != nil {
				require.Equal(t, string(k), reflect.TypeOf(a).Name())
				seen[string(k)] = true
				break
			}
		}
	}
	for _, k := range openflowtest.Kinds() {
		require.True(t, seen[string(k)], "no %s", k)
	}
	require.Len(t, seen, 32)
}
