package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

func TestClassicFormats(t *testing.T) {
	for _, c := range []struct {
		name   string
		order  order
		magic  uint32
		frac   uint32
		ns     int64
		header int64
	}{
		{"micro, little-endian", binary.LittleEndian, micro, 654321, 654321000, 16},
		{"micro, big-endian", binary.BigEndian, micro, 654321, 654321000, 16},
		{"nano, little-endian", binary.LittleEndian, nano, 987654321, 987654321, 16},
		{"nano, big-endian", binary.BigEndian, nano, 987654321, 987654321, 16},
		{"modified, little-endian", binary.LittleEndian, modified, 654321, 654321000, 24},
		{"modified, big-endian", binary.BigEndian, modified, 654321, 654321000, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newClassic(c.order, c.magic, 1).
				frame(1700000000, c.frac, "first frame", 11).
				frame(1700000001, 0, "", 0).
				frame(4294967295, 1, "snapped", 1514)
			got, err := readBytes(f.out)
			require.NoError(t, err)
			tick := c.ns / int64(c.frac)
			require.Equal(t, []frame{
				{1700000000e9 + c.ns, "first frame", 11, 1, 24},
				{1700000001e9, "", 0, 2, 24 + c.header + 11},
				{4294967295e9 + tick, "snapped", 1514, 3, 24 + 2*c.header + 11},
			}, got)
		})
	}
}

func TestSnappedAndAt(t *testing.T) {
	r, err := pcap.NewReader(bytes.NewReader(newClassic(binary.LittleEndian, micro, 1).
		frame(1, 500000, "cut", 60).
		frame(2, 0, "whole", 5).
		frame(3, 0, "odd writer", 2).out), "mem")
	require.NoError(t, err)
	rec, err := r.Next()
	require.NoError(t, err)
	require.True(t, rec.Snapped())
	require.Equal(t, "1970-01-01T00:00:01.5Z", rec.At().Format("2006-01-02T15:04:05.999999999Z07:00"))
	rec, err = r.Next()
	require.NoError(t, err)
	require.False(t, rec.Snapped())
	rec, err = r.Next()
	require.NoError(t, err)
	require.False(t, rec.Snapped(), "an original length below the captured one is no snap")
	require.Equal(t, 10, rec.OrigLen)
}

func TestFrameCheckSequenceBitsAreNotALinkType(t *testing.T) {
	got, err := readBytes(newClassic(binary.BigEndian, micro, 0x24000001).frame(1, 0, "x", 1).out)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestCompressed(t *testing.T) {
	plain := newClassic(binary.LittleEndian, nano, 1)
	for i := range uint32(5000) {
		plain.frame(i, i, strings.Repeat("z", int(i)), 5000)
	}
	want, err := readBytes(plain.out)
	require.NoError(t, err)
	require.Len(t, want, 5000)
	members := append(gzipped(t, plain.out[:1000]), gzipped(t, plain.out[1000:])...)
	for name, b := range map[string][]byte{
		"gzip":             gzipped(t, plain.out),
		"gzip, two pieces": members,
		"zstd":             zstded(t, plain.out),
	} {
		got, err := readBytes(b)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}

func TestSourceThatDribbles(t *testing.T) {
	f := newClassic(binary.LittleEndian, nano, 1).frame(1, 2, "abc", 3).frame(3, 4, "defg", 4)
	want, err := readBytes(f.out)
	require.NoError(t, err)
	for name, src := range map[string]io.Reader{
		"one byte a read":   iotest.OneByteReader(bytes.NewReader(f.out)),
		"end with data":     iotest.DataErrReader(bytes.NewReader(f.out)),
		"half of every ask": iotest.HalfReader(bytes.NewReader(f.out)),
	} {
		r, err := pcap.NewReader(src, name)
		require.NoError(t, err)
		got, err := readAll(r)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}

// The buffer is refilled many times and at every phase of a record.
func TestLargerThanTheBuffer(t *testing.T) {
	f := newClassic(binary.LittleEndian, nano, 1)
	big := strings.Repeat("0123456789abcdef", pcap.MaxFrame/16)
	sizes := []int{pcap.MaxFrame, 0, 1, pcap.MaxFrame - 1, 60, pcap.MaxFrame - 17}
	for i := range 60 {
		n := sizes[i%len(sizes)]
		f.frame(uint32(i), 0, big[:n], n)
	}
	got, err := readBytes(f.out)
	require.NoError(t, err)
	require.Len(t, got, 60)
	for i, g := range got {
		require.True(t, g.Data == big[:sizes[i%len(sizes)]], "frame %d", i+1)
	}
}

// A section header is read in two looks; the second may move the buffer.
func TestBlocksAcrossTheBuffersEnd(t *testing.T) {
	for gap := range 16 {
		f := newNG(binary.LittleEndian).block(99, nil, strings.Repeat("k", 256<<10-28-12-4*gap))
		f.section().port(1, 0).enhanced(0, 1, strings.Repeat("f", pcap.MaxFrame), pcap.MaxFrame).enhanced(0, 2, "x", 1)
		got, err := readBytes(f.out)
		require.NoError(t, err)
		require.Len(t, got, 2)
		want, _ := slowRead(f.out)
		require.Equal(t, want, got)
	}
}

func TestHeaderFaults(t *testing.T) {
	le := binary.LittleEndian
	old := newClassic(le, micro, 1).out
	old[4] = 1
	for _, c := range []struct {
		name    string
		file    []byte
		problem pcap.Problem
		offset  int64
		says    string
	}{
		{"empty", nil, pcap.Truncated, 0, "mem: header at offset 0: truncated: the file's magic number has 4 bytes, 0 are there"},
		{"three bytes", []byte{0xd4, 0xc3, 0xb2}, pcap.Truncated, 0, "3 are there"},
		{"header cut", newClassic(le, micro, 1).out[:23], pcap.Truncated, 0, "the file header has 24 bytes, 23 are there"},
		{"text", []byte("no capture at all"), pcap.BadMagic, 0, "begins with 6e 6f 20 63; pcap and pcapng are read"},
		{"version", old, pcap.BadHeader, 4, "version 1.4"},
		{"cooked", newClassic(le, micro, 113).out, pcap.ForeignLink, 20, `link type 113 (Linux cooked v1), but Ethernet (1) is needed; capture on one Ethernet interface, not on "any"`},
		{"unheard-of link", newClassic(le, micro, 9999).out, pcap.ForeignLink, 20, "link type 9999 (unknown)"},
		{"gzip header cut", gzipped(t, old)[:7], pcap.Truncated, 0, "the compressed stream breaks off"},
		{"gzip of text", gzipped(t, []byte("no capture")), pcap.BadMagic, 0, "6e 6f"},
		{"gzip method", []byte("\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\x00"), pcap.Corrupt, 0, "gzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readBytes(c.file)
			requireFault(t, err, c.problem, c.offset, 0)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestFaultsAfterFrames(t *testing.T) {
	le := binary.LittleEndian
	two := newClassic(le, nano, 1).frame(1, 0, "one", 3).frame(2, 0, "two", 3).out // records at 24 and 43
	huge := newClassic(le, nano, 1).frame(1, 0, "one", 3)
	huge.words(2, 0, pcap.MaxFrame+1, pcap.MaxFrame+1)
	for _, c := range []struct {
		name    string
		file    []byte
		problem pcap.Problem
		says    string
	}{
		{"record header cut", two[:50], pcap.Truncated, "mem: frame 2 at offset 43: truncated: the record header has 16 bytes, 7 are there"},
		{"frame cut", two[:61], pcap.Truncated, "the frame has 3 bytes, 2 are there"},
		{"absurd length", huge.out, pcap.BadLength, "a frame of 262145 bytes, more than 262144"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readBytes(c.file)
			require.Equal(t, []frame{{1e9, "one", 3, 1, 24}}, got, "what came before the fault is given")
			requireFault(t, err, c.problem, 43, 2)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestBrokenCompression(t *testing.T) {
	f := newClassic(binary.LittleEndian, nano, 1)
	seed := uint32(1)
	for i := range uint32(200_000) {
		seed = seed*1664525 + 1013904223 // so that it does not compress to nothing
		f.frame(i, seed%1e9, "some frame", 10)
	}
	for name, packed := range map[string][]byte{"gzip": gzipped(t, f.out), "zstd": zstded(t, f.out)} {
		got, err := readBytes(packed[:len(packed)/2])
		require.NotEmpty(t, got, name)
		requireFault(t, err, pcap.Truncated, got[len(got)-1].Offset+26, len(got)+1)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)

		bent := bytes.Clone(packed)
		bent[len(bent)-2] ^= 0x55 // the checksum at the end
		got, err = readBytes(bent)
		require.NotEmpty(t, got, name)
		var fault *pcap.FormatError
		require.ErrorAs(t, err, &fault, name)
		require.Equal(t, pcap.Corrupt, fault.Problem, name)
	}
}

// A disk that fails is no fault of the file.
func TestSourceFailure(t *testing.T) {
	f := newClassic(binary.LittleEndian, nano, 1).frame(1, 0, "one", 3)
	broken := errors.New("cable pulled")
	for name, b := range map[string][]byte{"plain": f.out, "gzip": gzipped(t, f.out)[:30]} {
		src := io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken))
		r, err := pcap.NewReader(src, "mem")
		if err == nil {
			_, err = readAll(r)
		}
		require.ErrorIs(t, err, broken, name)
		require.Regexp(t, "^read capture mem: (frame 2 at offset 43: )?cable pulled$", err.Error(), name)
		var fault *pcap.FormatError
		require.False(t, errors.As(err, &fault), name)
	}
}

func TestErrorsStay(t *testing.T) {
	file := newClassic(binary.LittleEndian, nano, 1).frame(1, 0, "one", 3).out
	for name, b := range map[string][]byte{"end": file, "fault": file[:len(file)-1]} {
		r, err := pcap.NewReader(bytes.NewReader(b), "mem")
		require.NoError(t, err)
		_, first := readAll(r)
		_, again := readAll(r)
		require.Equal(t, first, again, name)
		require.NoError(t, r.Close())
		_, err = r.Next()
		require.ErrorIs(t, err, os.ErrClosed)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	_, err := pcap.Open(filepath.Join(dir, "absent.pcap"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = pcap.Open(dir)
	require.Error(t, err)

	path := filepath.Join(dir, "a.pcap")
	packed := gzipped(t, newClassic(binary.BigEndian, micro, 1).frame(1, 0, "one", 3).out)
	require.NoError(t, os.WriteFile(path, packed, 0o600))
	r, err := pcap.Open(path)
	require.NoError(t, err)
	require.Equal(t, path, r.Name())
	got, err := readAll(r)
	require.NoError(t, err)
	require.Len(t, got, 1)
	done, total := r.Progress()
	require.Equal(t, int64(len(packed)), done, "bytes are counted as stored")
	require.Equal(t, int64(len(packed)), total)
	require.NoError(t, r.Close())
}

func TestProgressOfUnknownSize(t *testing.T) {
	b := newClassic(binary.BigEndian, micro, 1).out
	r, err := pcap.NewReader(bytes.NewReader(b), "mem")
	require.NoError(t, err)
	done, total := r.Progress()
	require.Equal(t, int64(len(b)), done)
	require.Zero(t, total)
}

// Reading allocates nothing per frame.
func TestNextAllocatesNothing(t *testing.T) {
	f := newClassic(binary.LittleEndian, nano, 1)
	g := newNG(binary.BigEndian).port(1, 0)
	for i := range uint32(3000) {
		f.frame(i, 0, "some frame", 10)
		g.enhanced(0, uint64(i), "some frame", 10)
	}
	for name, b := range map[string][]byte{"classic": f.out, "pcapng": g.out} {
		r, err := pcap.NewReader(bytes.NewReader(b), "mem")
		require.NoError(t, err)
		_, err = r.Next() // the first frame of pcapng follows the interface block
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(2000, func() {
			if _, err := r.Next(); err != nil {
				panic(err)
			}
		}), name)
	}
}

// endless repeats a record.
type endless struct {
	record []byte
	at     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.record[e.at:])
	e.at = (e.at + n) % len(e.record)
	return n, nil
}

// A file of any size costs the same memory.
func TestMemoryIsConstant(t *testing.T) {
	const size = 64 << 20
	header := newClassic(binary.LittleEndian, nano, 1)
	record := newClassic(binary.LittleEndian, nano, 1).frame(1, 2, strings.Repeat("d", 1500), 1500).out[24:]
	src := io.MultiReader(bytes.NewReader(header.out), io.LimitReader(&endless{record: record}, size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := pcap.NewReader(src, "mem")
	require.NoError(t, err)
	frames := 0
	for err == nil {
		_, err = r.Next()
		frames++
	}
	runtime.ReadMemStats(&after)
	require.Greater(t, frames, 40_000)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}
