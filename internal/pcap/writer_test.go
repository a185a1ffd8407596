package pcap_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

func TestWriterBytes(t *testing.T) {
	var out bytes.Buffer
	w := pcap.NewWriter(&out)
	require.NoError(t, w.Write(pcap.Record{Time: 0x01020304*1e9 + 5, Data: []byte("abc"), OrigLen: 60}))
	require.NoError(t, w.Close())
	require.Equal(t, "\x4d\x3c\xb2\xa1\x02\x00\x04\x00"+ // magic of nanoseconds, version 2.4
		"\x00\x00\x00\x00\x00\x00\x00\x00"+
		"\x00\x00\x04\x00\x01\x00\x00\x00"+ // 262144 bytes at most, Ethernet
		"\x04\x03\x02\x01\x05\x00\x00\x00\x03\x00\x00\x00\x3c\x00\x00\x00abc", out.String())
}

func TestEmptyCaptureIsACapture(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, pcap.NewWriter(&out).Close())
	got, err := readBytes(out.Bytes())
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestWriteThenRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "out.pcap")
	w, err := pcap.Create(path)
	require.NoError(t, err)
	var want []frame
	at := int64(24)
	for i := range 2000 {
		data := make([]byte, rng.IntN(300))
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		f := frame{rng.Int64N(1 << 62 / 2), string(data), len(data) + rng.IntN(2)*100, i + 1, at}
		f.Time %= 4294967296e9
		require.NoError(t, w.Write(pcap.Record{Time: f.Time, Data: data, OrigLen: f.OrigLen}))
		want = append(want, f)
		at += 16 + int64(len(data))
	}
	require.NoError(t, w.Close())
	r, err := pcap.Open(path)
	require.NoError(t, err)
	defer r.Close()
	got, err := readAll(r)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestFlushMakesFramesReadable(t *testing.T) {
	var out bytes.Buffer
	w := pcap.NewWriter(&out)
	require.NoError(t, w.Write(pcap.Record{Data: []byte("x")}))
	require.Empty(t, out.Bytes())
	require.NoError(t, w.Flush())
	got, err := readBytes(out.Bytes())
	require.NoError(t, err)
	require.Equal(t, []frame{{0, "x", 1, 1, 24}}, got)
}

func TestWriterRefuses(t *testing.T) {
	var out bytes.Buffer
	w := pcap.NewWriter(&out)
	require.ErrorContains(t, w.Write(pcap.Record{Time: -1}), "time -1 ns")
	require.ErrorContains(t, w.Write(pcap.Record{Time: 4294967296e9}), "1970 to 2106")
	require.ErrorContains(t, w.Write(pcap.Record{Data: make([]byte, pcap.MaxFrame+1)}), "262145 bytes")
	require.NoError(t, w.Write(pcap.Record{Data: make([]byte, pcap.MaxFrame)}))
	require.NoError(t, w.Close())
	got, err := readBytes(out.Bytes())
	require.NoError(t, err)
	require.Len(t, got, 1, "what was refused left no trace")
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriterTellsOfAFullDisk(t *testing.T) {
	require.ErrorIs(t, pcap.NewWriter(full{}).Close(), errFull)
	w := pcap.NewWriter(full{})
	var err error
	for range 3 {
		if err == nil {
			err = w.Write(pcap.Record{Data: make([]byte, 200_000)})
		}
	}
	require.ErrorIs(t, err, errFull)
	_, err = pcap.Create(filepath.Join(t.TempDir(), "absent", "x.pcap"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
