package replay

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
	"hpnn/internal/pcap"
)

// Captures is where captures of all sorts are; a test that needs them is skipped without.
func captures(t *testing.T, parts ...string) string {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../../shared/pcaps"
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no captures here: %v", err)
	}
	return path
}

var flagged = regexp.MustCompile(`\[[A-Z.e]*\]`)

// requireAgree holds parse against its slow twin, the summary of package packet.
func requireAgree(t *testing.T, frame []byte) {
	h, want := parse(frame), packet.Summary(frame)
	name, known := map[uint8]string{packet.ProtoTCP: "TCP", packet.ProtoUDP: "UDP"}[h.proto]
	if !h.ends || !known || !strings.HasPrefix(want, name) { // cut or malformed further on
		return
	}
	require.Contains(t, want, fmt.Sprintf("%s %v > %v", name, h.src.AddrPort(), h.dst.AddrPort()))
	if flags := flagged.FindString(want); flags != "" {
		require.Equal(t, strings.Contains(flags, "S") && !strings.Contains(flags, "."), h.opens, want)
		require.Contains(t, want, fmt.Sprintf(" seq %d ", h.seq))
	}
}

func TestHeadersAreThoseOfTheSummary(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(captures(t, "public"), "*.pcap*"))
	require.NoError(t, err)
	ends := 0
	for _, path := range append(paths, "../../examples/captures/client-pub0.pcap") {
		r, err := pcap.Open(path)
		if err != nil {
			continue
		}
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			requireAgree(t, rec.Data)
			if parse(rec.Data).ends {
				ends++
			}
		}
		r.Close()
	}
	require.Greater(t, ends, 500)
}

func TestAnyBytesHaveHeaders(t *testing.T) {
	r, err := pcap.Open("../../examples/captures/client-pub0.pcap")
	require.NoError(t, err)
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for n := range rec.Data {
			parse(rec.Data[:n])
		}
	}
}

func TestHeadersUnderTags(t *testing.T) {
	frame := packet.ARP{Eth: packet.Ether{Tags: []packet.Tag{{Type: packet.TypeQinQ, ID: 1}, {ID: 2}}}, Op: packet.OpReply}
	frame.SenderIP, frame.TargetIP = netip.IPv4Unspecified(), netip.IPv4Unspecified()
	require.True(t, parse(frame.Bytes()).reply)
}

func TestRecentForgetsAfterTwoGenerations(t *testing.T) {
	var r recent
	s := session{seq: 1}
	require.True(t, r.add(0, s))
	require.False(t, r.add(time.Second, s))
	require.False(t, r.add(generationAge+2*time.Second, s), "of the old generation, and young again")
	require.False(t, r.add(2*generationAge+4*time.Second, s))
	require.True(t, r.add(9*generationAge, session{seq: 2}))
	require.True(t, r.add(11*generationAge, session{seq: 3}))
	require.True(t, r.add(11*generationAge, s), "two generations without it")
	for i := range 5 * generationSize {
		r.add(11*generationAge, session{seq: uint32(10 + i)})
	}
	require.LessOrEqual(t, len(r.young)+len(r.old), 2*generationSize)
}
