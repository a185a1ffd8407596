package pcap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// captures gives the files of the shared captures below dir, or skips the test.
func captures(t *testing.T, pattern string) []string {
	root := os.Getenv("HPNN_CAPTURES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "pcaps")
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no captures at %s; set HPNN_CAPTURES to the folder that holds public/", filepath.Join(root, pattern))
	}
	return files
}

// Captures of real and hostile traffic: all open, and read as the slow twin reads them.
func TestPublicCaptures(t *testing.T) {
	files := captures(t, "public/*.pcap")
	require.GreaterOrEqual(t, len(files), 206)
	frames := 0
	for _, path := range files {
		r, err := pcap.Open(path)
		require.NoError(t, err)
		got, fault := readAll(r)
		require.NoError(t, r.Close())
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		want, clean := slowRead(file)
		require.Equal(t, want, got, path)
		require.Equal(t, clean, fault == nil, "%s: %v", path, fault)
		if fault != nil {
			t.Log(fault)
		}
		frames += len(got)
	}
	t.Logf("%d frames in %d files", frames, len(files))
}

// The laboratory's captures were written in our own format: writing them again gives the
// same records.
func TestLabCapturesRewriteToTheSameBytes(t *testing.T) {
	for _, path := range captures(t, "ovs-lab/*/*.pcap") {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		r, err := pcap.NewReader(bytes.NewReader(file), path)
		require.NoError(t, err)
		var out bytes.Buffer
		w := pcap.NewWriter(&out)
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			require.NoError(t, w.Write(rec))
		}
		require.NoError(t, w.Close())
		require.True(t, bytes.Equal(file[24:], out.Bytes()[24:]), path)
	}
}
