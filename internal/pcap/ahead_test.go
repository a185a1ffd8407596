package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// moody reads as little or as much as it likes.
type moody struct {
	src io.Reader
	rng *rand.Rand
}

func (m moody) Read(p []byte) (int, error) {
	most := []int{1, 300, 5000, 70_000, len(p), len(p)}[m.rng.IntN(6)]
	return m.src.Read(p[:min(most, len(p))])
}

// sized is a capture of frames of all sizes, in either format, perhaps cut.
func sized(rng *rand.Rand) []byte {
	c, g := newClassic(binary.LittleEndian, nano, 1), newNG(binary.BigEndian).port(1, 0)
	for i := range uint32(10 + rng.IntN(40)) {
		n := []int{0, 60, 1500, 9000, 65_000, 200_000}[rng.IntN(6)]
		data := string(bytes.Repeat([]byte{byte(i)}, n/2+rng.IntN(n/2+1)))
		c.frame(i, i, data, len(data))
		g.enhanced(0, uint64(i), data, len(data))
	}
	b := [][]byte{c.out, g.out}[rng.IntN(2)]
	if rng.IntN(3) == 0 {
		b = b[:len(b)-rng.IntN(100)]
	}
	return b
}

// Reading ahead changes nothing but when.
func TestReadAheadGivesTheSameFrames(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := sized(rng)
		want, fault := readBytes(b)
		r, err := pcap.NewReader(moody{bytes.NewReader(b), rng}, "mem")
		require.NoError(t, err)
		r.ReadAhead()
		got, err := readAll(r)
		require.Equal(t, len(want), len(got), "seed %d", seed)
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, fmt.Sprint(fault), fmt.Sprint(err), "seed %d", seed)
		require.NoError(t, r.Close())
	}
}

func TestReadAheadOfCompressedCaptures(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	b := sized(rng)
	want, _ := readBytes(b)
	for _, packed := range [][]byte{gzipped(t, b), zstded(t, b)} {
		r, err := pcap.NewReader(bytes.NewReader(packed), "mem")
		require.NoError(t, err)
		r.ReadAhead()
		got, _ := readAll(r)
		require.Equal(t, want, got)
		require.NoError(t, r.Close())
	}
}

func TestReadAheadEndsWithClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pcap")
	f := newClassic(binary.LittleEndian, nano, 1)
	for i := range uint32(20_000) {
		f.frame(i, 0, "twenty bytes of data", 20)
	}
	require.NoError(t, os.WriteFile(path, f.out, 0o666))
	r, err := pcap.Open(path)
	require.NoError(t, err)
	r.ReadAhead()
	for range 10_000 {
		_, err := r.Next()
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
	_, err = r.Next()
	require.ErrorIs(t, err, os.ErrClosed)
}

// A source that fails is told with the place, whether it is read ahead or not.
func TestSourceThatFailsIsToldWithThePlace(t *testing.T) {
	broken := errors.New("disk on fire")
	f := newClassic(binary.LittleEndian, nano, 1)
	for range 3 {
		f.frame(1, 1, "frame", 5)
	}
	for _, ahead := range []bool{false, true} {
		r, err := pcap.NewReader(iotest.OneByteReader(io.MultiReader(bytes.NewReader(f.out[:70]), iotest.ErrReader(broken))), "x.pcap")
		require.NoError(t, err)
		if ahead {
			r.ReadAhead()
		}
		got, err := readAll(r)
		require.Len(t, got, 2)
		require.ErrorIs(t, err, broken)
		require.EqualError(t, err, "read capture x.pcap: frame 3 at offset 66: disk on fire")
		var where *pcap.ReadError
		require.ErrorAs(t, err, &where)
		require.Equal(t, 3, where.Frame)
		require.NoError(t, r.Close())
	}
}

func TestWriteBehindWritesTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	behind := pcap.WriteBehind()
	rng := rand.New(rand.NewPCG(1, 4))
	var want [3]bytes.Buffer
	var now, later [3]*pcap.Writer
	path := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i := range later {
		w, err := behind.Create(path(i))
		require.NoError(t, err)
		now[i], later[i] = pcap.NewWriter(&want[i]), w
	}
	for at := range int64(20_000) {
		i := rng.IntN(3)
		rec := pcap.Record{Time: at, Data: bytes.Repeat([]byte{byte(at)}, rng.IntN(200))}
		require.NoError(t, now[i].Write(rec))
		require.NoError(t, later[i].Write(rec))
	}
	for i := range later {
		require.NoError(t, now[i].Close())
		require.NoError(t, later[i].Close())
		got, err := os.ReadFile(path(i))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[i].Bytes(), got))
	}
	behind.Close()
}

func TestWriteBehindTellsOfAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full: ", err)
	}
	behind := pcap.WriteBehind()
	defer behind.Close()
	w, err := behind.Create("/dev/full")
	require.NoError(t, err)
	for range 1000 { // it may be told late, but not never
		if err = w.Write(pcap.Record{Data: make([]byte, 100_000)}); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "/dev/full")
	require.ErrorContains(t, w.Close(), "/dev/full")
}
