package openflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

// captures is a directory with the flows of a real switch; the test skips without it.
func captures(t *testing.T, name string) *os.File {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "pcaps")
	}
	f, err := os.Open(filepath.Join(dir, "ovs-lab", name))
	if err != nil {
		t.Skipf("no captures: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLabFlowsParse(t *testing.T) {
	p, err := ParseProgram("flows.txt", captures(t, "flows.txt"))
	require.NoError(t, err)
	require.Equal(t, 1107, p.Len())
	after, err := ParseDump("flows-after.txt", captures(t, "flows-after.txt"))
	require.NoError(t, err)
	require.Greater(t, len(after), 1107)
}
