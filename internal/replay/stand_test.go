package replay_test

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/pipeline"
	"hpnn/internal/replay"
	"hpnn/model"
)

// stand is the node of examples/hpnn.yaml.
func stand(t testing.TB) replay.Node {
	topology, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return replay.FromTopology(topology, pipeline.State{})
}

const clientCapture = "../../examples/captures/client-pub0.pcap"

// replayClient replays what real clients sent to the stand, and returns what each port sent.
func replayClient(t *testing.T) (replay.Report, map[string][]sent) {
	n, out := stand(t), t.TempDir()
	port, err := n.Port("pub0")
	require.NoError(t, err)
	r, err := replay.Run(t.Context(), replay.Config{Node: n, Inputs: []replay.Input{{Port: port, Path: clientCapture}}, Out: out})
	require.NoError(t, err)
	left := map[string][]sent{}
	for _, p := range n.Ports {
		left[p.Name] = frames(t, filepath.Join(out, p.Name+".pcap"))
	}
	return r, left
}

func TestClientsSessionsAreSpreadOverTheMembers(t *testing.T) {
	r, left := replayClient(t)
	total := uint64(0)
	for _, m := range r.Members {
		require.Positive(t, m.Sessions, m.Name)
		require.Positive(t, m.To.Frames, m.Name)
		total += m.Sessions
	}
	require.Len(t, r.Members, 4)
	require.Equal(t, uint64(41), total)
	syns := 0
	for port, list := range left {
		for _, f := range list {
			require.NoError(t, packet.Verify([]byte(f.data)), port)
			if summary := packet.Summary([]byte(f.data)); strings.Contains(summary, "[S]") && strings.Contains(summary, ":8080 ") {
				require.Regexp(t, `^TCP 192\.168\.5\.13:\d+ > 10\.[23]0\.0\.[23]:8080 \[S\] .* ttl 63$`, summary)
				syns++
			}
		}
	}
	direct := 2 // connections to a backend's own address
	require.Equal(t, 41+direct, syns)
}

func TestNodeAnswersAsAnIPStackWould(t *testing.T) {
	r, left := replayClient(t)
	require.Equal(t, uint64(2), r.Fates.AnsweredARP)
	require.Equal(t, uint64(6), r.Fates.AnsweredPing)
	var theirs []sent // what the Linux router that the capture is of answered
	for _, f := range frames(t, clientCapture) {
		if s := packet.Summary([]byte(f.data)); strings.HasPrefix(s, "ARP reply 192.168.5.2") || strings.Contains(s, "echo reply") && strings.HasPrefix(s, "ICMP 192.168.5.2") {
			theirs = append(theirs, f)
		}
	}
	require.Len(t, left["pub0"], len(theirs), "nothing else is answered")
	for i, f := range left["pub0"] {
		require.Empty(t, unlike(theirs[i].data, f.data))
	}
}

// unlike lists in what an answer differs from that of an IP stack that no one could foretell: a stack
// numbers its packets as it likes.
func unlike(want, got string) (lines []string) {
	for line := range strings.Lines(packet.Diff([]byte(want), []byte(got))) {
		if !strings.HasPrefix(line, "ip.id ") && !strings.HasPrefix(line, "ip.flags ") && !strings.HasPrefix(line, "ip.csum ") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestNodesOwnFramesAreNoInput(t *testing.T) {
	r, _ := replayClient(t)
	require.Equal(t, uint64(188), r.Own)
	require.Equal(t, r.Own, r.Drops[0].Frames)
	require.Equal(t, "ingress", r.Drops[0].Name)
}

func TestKernelsFramesAreInputWhereItSendsThem(t *testing.T) {
	n := stand(t)
	probe := packet.MustMAC("02:42:0a:14:00:fd")
	noise := packet.Ether{Src: probe, Dst: packet.MustMAC("02:42:0a:14:00:01")}.Frame(0x1234, nil) // dropped either way
	own, err := n.Port("hcif-p2")
	require.NoError(t, err)
	other, err := n.Port("be1")
	require.NoError(t, err)
	require.Zero(t, run(t, n, input(t, own, at{frame: noise})).Own)
	r := run(t, n, input(t, other, at{frame: noise}))
	require.Equal(t, uint64(1), r.Own)
	require.Equal(t, uint64(1), r.Fates.Dropped)
}

// public lists the captures of odd, malformed and hostile frames.
func public(t *testing.T) []string {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../../shared/pcaps"
	}
	paths, err := filepath.Glob(filepath.Join(dir, "public", "*"))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skipf("no captures in %s/public: set HPNN_CAPTURES to where they are", dir)
	}
	return paths
}

// endure replays all frames of the captures into one port and returns a digest of all that left, when
// and where, and the report.
func endure(t *testing.T, n replay.Node, port openflow.PortNo, paths []string) (digest string, r replay.Report) {
	s, err := replay.NewSession(t.Context(), n)
	require.NoError(t, err)
	defer s.Close()
	sum := sha256.New()
	emit := func(at int64, o datapath.Output) { fmt.Fprintf(sum, "%d %d %x\n", at, o.Port, o.Frame) }
	clock := int64(0)
	for _, path := range paths {
		shift := clock + int64(time.Minute) // so that most of what the capture before left has timed out
		for rec := range records(path) {
			if rec.Index == 1 {
				shift -= rec.Time
			}
			rec.Time += shift
			s.Receive(replay.Frame{Port: port, Path: path, Record: rec}, emit)
			clock = max(clock, rec.Time)
		}
	}
	r, err = s.Report(t.Context())
	require.NoError(t, err)
	return fmt.Sprintf("%x", sum.Sum(nil)), r
}

// records yields what can be read of a capture.
func records(path string) iter.Seq[pcap.Record] {
	return func(yield func(pcap.Record) bool) {
		r, err := pcap.Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		for {
			rec, err := r.Next()
			if err != nil || !yield(rec) {
				return
			}
		}
	}
}

func TestAnyFrameReplaysOnEveryPortAndAlwaysAlike(t *testing.T) {
	n, paths := stand(t), public(t)
	for _, p := range n.Ports {
		digest, r := endure(t, n, p.Number, paths)
		again, r2 := endure(t, n, p.Number, paths)
		require.Equal(t, digest, again, p.Name)
		require.Equal(t, r, r2, p.Name)
		require.Greater(t, r.In.Frames, uint64(3000), p.Name)
		f := r.Fates
		require.Equal(t, r.In.Frames, f.Forwarded+f.Flooded+f.AnsweredARP+f.AnsweredPing+f.Dropped+f.Punted+f.Held, p.Name)
	}
}
