package ofwire_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
	"hpnn/internal/ofwire"
	"hpnn/testbed/conformance"
	"hpnn/testbed/dummy"
)

const messageHeader = 8

// requireAsOVS demands that we encode changes byte for byte as ovs-ofctl does.
func requireAsOVS(t *testing.T, sw *dummy.Switch, changes of.Bundle) {
	t.Helper()
	encoded, err := sw.Encode(t.Context(), changes.String())
	require.NoError(t, err)
	messages := encoded[0].Changes()
	require.Len(t, messages, len(changes))
	for i, m := range changes {
		ours, err := ofwire.AppendFlowMod(nil, m)
		require.NoError(t, err, "%v", m)
		theirs := messages[i][messageHeader:]
		if !bytes.Equal(theirs, ours) {
			require.Equal(t, hex.Dump(theirs), hex.Dump(ours), "%v", m)
		}
		again, err := ofwire.DecodeFlowMod(theirs)
		require.NoError(t, err, "%v", m)
		requireSame(t, spelled(m), again)
	}
}

func start(t *testing.T) *dummy.Switch { return dummy.ForTest(t, dummy.Config{}) }

func TestRenderedProgramsAreEncodedAsByOVS(t *testing.T) {
	paths, err := filepath.Glob("../pipeline/testdata/*.flows")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	sw := start(t)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		p, err := of.ParseProgram(path, strings.NewReader(string(text)))
		require.NoError(t, err)
		requireAsOVS(t, sw, p.Bundle())
	}
}

func TestRandomChangesAreEncodedAsByOVS(t *testing.T) {
	sw := start(t)
	g := openflowtest.New(5)
	var changes of.Bundle
	for len(changes) < 2000 {
		if m := g.FlowMod(); !strings.Contains(m.String(), "enqueue:") { // whose output has a length that means nothing
			changes = append(changes, m)
		}
	}
	requireAsOVS(t, sw, changes)
}

func TestConformanceProgramsAreEncodedAsByOVS(t *testing.T) {
	sw := start(t)
	var changes of.Bundle
	for seed := range uint64(20) {
		c := conformance.Generate(seed, nil)
		for _, f := range c.Flows {
			changes = append(changes, of.FlowMod{Flow: f})
		}
		for _, e := range c.Events {
			if commit, ok := e.(conformance.Commit); ok {
				changes = append(changes, commit.Bundle...)
			}
		}
	}
	requireAsOVS(t, sw, changes)
}
