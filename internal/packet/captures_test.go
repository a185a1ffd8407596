package packet_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/internal/pcap"
)

// eachFrame calls visit for every frame of the shared captures that match, or skips.
func eachFrame(t *testing.T, pattern string, visit func(place string, frame []byte)) {
	root := os.Getenv("HPNN_CAPTURES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "pcaps")
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no captures at %s; set HPNN_CAPTURES to the folder that holds public/", filepath.Join(root, pattern))
	}
	for _, path := range files {
		r, err := pcap.Open(path)
		require.NoError(t, err)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			visit(fmt.Sprintf("%s frame %d", filepath.Base(path), rec.Index), rec.Data)
		}
		require.NoError(t, r.Close())
	}
}

func TestHostileCaptures(t *testing.T) {
	eachFrame(t, "public/*.pcap", func(place string, frame []byte) {
		require.NotEmpty(t, packet.Summary(frame), place)
		_ = packet.Verify(frame)
		if len(frame) > 0 {
			require.NotEmpty(t, packet.Diff(frame, frame[:len(frame)-1]), place)
		}
	})
}

// Everything that left the real switch in the laboratory had right checksums.
func TestLabFramesVerify(t *testing.T) {
	n := 0
	eachFrame(t, "ovs-lab/out/*.pcap", func(place string, frame []byte) {
		require.NoError(t, packet.Verify(frame), "%s: %s", place, packet.Summary(frame))
		n++
	})
	t.Logf("%d frames", n)
}
