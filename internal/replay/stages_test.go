package replay_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/replay"
	"hpnn/internal/shard/worlds"
)

// onCores replays on so many cores and returns all that came of it: the report, and each file's bytes.
func onCores(t testing.TB, n replay.Node, inputs []replay.Input, cores int) (replay.Report, map[string]string) {
	out := t.TempDir()
	r, err := replay.Run(t.Context(), replay.Config{Node: n, Inputs: inputs, Out: out, Cores: cores})
	if len(r.Faults) == 0 {
		require.NoError(t, err)
	}
	files := map[string]string{}
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(out, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(b)
	}
	return r, files
}

// requireSameOnCores demands that a replay gives the same on one core and on several, and returns on how
// many shards the latter ran.
func requireSameOnCores(t testing.TB, n replay.Node, inputs []replay.Input, cores int) replay.Report {
	want, wantFiles := onCores(t, n, inputs, 1)
	got, files := onCores(t, n, inputs, cores)
	require.Len(t, files, len(wantFiles))
	for name, b := range wantFiles {
		require.True(t, b == files[name], "%s differs", name)
	}
	several := got
	got.Shards, got.Together = want.Shards, want.Together
	require.Equal(t, want, got)
	return several
}

func TestClientsAreReplayedApart(t *testing.T) {
	dir := t.TempDir()
	n := makeTraffic(t, dir, 300, 6000)
	inputs, err := replay.InputsIn(dir, n)
	require.NoError(t, err)
	for _, cores := range []int{2, 5} {
		r := requireSameOnCores(t, n, inputs, cores)
		require.Equal(t, cores, r.Shards, r.Together)
		require.Empty(t, r.Together)
		require.Equal(t, uint64(300), r.Members[0].Sessions+r.Members[1].Sessions+r.Members[2].Sessions+r.Members[3].Sessions)
	}
}

func TestLabIsReplayedTogetherAndSaysWhy(t *testing.T) {
	n := labNode(t)
	inputs, err := replay.InputsIn(filepath.Join(lab, "in"), n)
	require.NoError(t, err)
	r := requireSameOnCores(t, n, inputs, 4)
	require.Equal(t, 1, r.Shards)
	require.Contains(t, r.Together, "frame ")
	t.Log(r.Together)
}

func TestClientCaptureIsTheSameOnCores(t *testing.T) {
	n := stand(t)
	r := requireSameOnCores(t, n, []replay.Input{{Port: 1, Path: clientCapture}}, 4)
	t.Log(r.Shards, r.Together)
}

func TestPublicCapturesAreTheSameOnCores(t *testing.T) {
	paths, n := public(t), stand(t)
	sharded, tried := 0, 0
	for i, path := range paths {
		if i%5 != 0 {
			continue
		}
		tried++
		if requireSameOnCores(t, n, []replay.Input{{Port: 1, Path: path}}, 3).Shards == 3 {
			sharded++
		}
	}
	require.Greater(t, sharded, tried/2)
}

func TestStreamsAreReplayedTogether(t *testing.T) {
	r, err := replay.Run(t.Context(), replay.Config{
		Node: world(t, balanced...), Cores: 2,
		Inputs: []replay.Input{input(t, 1, at{frame: segment(1, 1, packet.SYN).Bytes()})},
	})
	require.NoError(t, err)
	require.Equal(t, 1, r.Shards)
	require.Contains(t, r.Together, "cannot be read a second time")
	require.Equal(t, uint64(1), r.Fates.Forwarded)
}

// Whatever the program, and whatever the frames, nothing tells how many cores there were.
func TestRandomProgramsAreTheSameOnCores(t *testing.T) {
	sharded, together := 0, 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 9))
		program, err := openflow.ParseProgram("random", strings.NewReader(worlds.Rules(rng)))
		require.NoError(t, err)
		n := replay.FromFlows(program, worldPorts)
		if _, err := replay.NewSession(t.Context(), n); err != nil {
			continue // the simulator refuses it
		}
		if requireSameOnCores(t, n, randomInputs(t, rng), 4).Shards == 4 {
			sharded++
		} else {
			together++
		}
	}
	t.Logf("%d programs were sharded, %d not", sharded, together)
	require.Positive(t, sharded)
	require.Positive(t, together)
}

// randomInputs are captures at two ports.
func randomInputs(t testing.TB, rng *rand.Rand) (inputs []replay.Input) {
	for port := range 2 {
		path, now := filepath.Join(t.TempDir(), "in.pcap"), beginning
		w, err := pcap.Create(path)
		require.NoError(t, err)
		for range 60 {
			now = now.Add(time.Duration(rng.IntN(400)) * time.Millisecond)
			require.NoError(t, w.Write(pcap.Record{Time: now.UnixNano(), Data: worlds.Frame(rng)}))
		}
		require.NoError(t, w.Close())
		inputs = append(inputs, replay.Input{Port: openflow.PortNo(port + 1), Path: path})
	}
	return inputs
}

func TestReplayOnCoresStopsWhenItIsToldTo(t *testing.T) {
	dir := t.TempDir()
	n := makeTraffic(t, dir, 10, 3000)
	inputs, err := replay.InputsIn(dir, n)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	_, err = replay.Run(ctx, replay.Config{Node: n, Inputs: inputs, Cores: 2, Progress: func(replay.Progress) { stop() }})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "after 1024 frames")
}

func TestUnwritableOutputEndsAReplayOnCores(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full: ", err)
	}
	dir, out := t.TempDir(), t.TempDir()
	n := makeTraffic(t, dir, 10, 6000)
	inputs, err := replay.InputsIn(dir, n)
	require.NoError(t, err)
	require.NoError(t, os.Symlink("/dev/full", filepath.Join(out, "be1.pcap")))
	for _, cores := range []int{1, 2} {
		_, err = replay.Run(t.Context(), replay.Config{Node: n, Inputs: inputs, Out: out, Cores: cores})
		require.ErrorContains(t, err, "be1.pcap")
	}
}
