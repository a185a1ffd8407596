package flow

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
	"hpnn/testbed/dummy"
)

// runs is how many random cases a differential test tries: n, or HPNN_FLOW_RUNS times as many.
func runs(t *testing.T, n int) int {
	factor, err := strconv.Atoi(os.Getenv("HPNN_FLOW_RUNS"))
	if err != nil {
		return n
	}
	t.Logf("%d runs", n*factor)
	return n * factor
}

// seed is where random cases start: the same every time, or HPNN_FLOW_SEED.
func seed() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("HPNN_FLOW_SEED"), 10, 64)
	return n
}

// traced is the "Flow:" line of the real switch.
func traced(t *testing.T, sw *dummy.Switch, frame []byte) string {
	out, err := sw.Trace(t.Context(), "in_port=1", hex.EncodeToString(frame))
	require.NoError(t, err)
	line, _, _ := strings.Cut(out, "\n")
	return strings.TrimPrefix(line, "Flow: ")
}

func extracted(frame []byte) string {
	var k Key
	if _, ok := Extract(frame, 1, &k); !ok {
		return "not a frame"
	}
	return Format(&k)
}

func TestExtractAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	m := newMaker(seed())
	for range runs(t, 3000) {
		f := m.frame()
		require.Equal(t, traced(t, sw, f), extracted(f), "frame %x", f)
	}
}

// TestExtractCapturesAsRealSwitch takes every frame of public captures of odd and hostile traffic, but those
// above 64 KiB: they make ofproto/trace abort.
func TestExtractCapturesAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	seen := map[string]bool{}
	for _, file := range captures(t) {
		for _, f := range framesOf(t, file) {
			if len(f) < ethLen || len(f) > 0xffff || seen[string(f)] {
				continue
			}
			seen[string(f)] = true
			want := traced(t, sw, f)
			if strings.Contains(want, "nsh_") {
				continue // not printed; nothing can match it
			}
			require.Equal(t, want, extracted(f), "%s: frame %x", filepath.Base(file), f)
		}
	}
	t.Logf("%d frames", len(seen))
}

// captures lists the capture files, or skips the test.
func captures(t *testing.T) []string {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../../shared/pcaps"
	}
	files, err := filepath.Glob(filepath.Join(dir, "public", "*.pcap"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no captures in %s: set HPNN_CAPTURES", dir)
	}
	return files
}

func framesOf(t *testing.T, file string) [][]byte {
	r, err := pcap.Open(file)
	if err != nil {
		t.Logf("%s: %v", filepath.Base(file), err)
		return nil
	}
	defer r.Close()
	var frames [][]byte
	for {
		record, err := r.Next()
		if err != nil {
			return frames // a capture cut short is as good
		}
		frames = append(frames, bytes.Clone(record.Data))
	}
}
