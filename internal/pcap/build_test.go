package pcap_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// Magics of the classic formats.
const (
	micro    = 0xa1b2c3d4
	nano     = 0xa1b23c4d
	modified = 0xa1b2cd34
)

// order is a byte order that can also append.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// classicFile builds classic captures; frames are added as sec, frac, data, orig.
type classicFile struct {
	order
	magic uint32
	out   []byte
}

func newClassic(o order, magic, link uint32) *classicFile {
	f := &classicFile{order: o, magic: magic}
	f.words(magic)
	f.out = o.AppendUint16(f.out, 2)
	f.out = o.AppendUint16(f.out, 4)
	f.words(0, 0, 65535, link)
	return f
}

func (f *classicFile) words(ws ...uint32) {
	for _, w := range ws {
		f.out = f.AppendUint32(f.out, w)
	}
}

func (f *classicFile) frame(sec, frac uint32, data string, orig int) *classicFile {
	f.words(sec, frac, uint32(len(data)), uint32(orig))
	if f.magic == modified {
		f.words(3, 0x08000000)
	}
	f.out = append(f.out, data...)
	return f
}

// ngFile builds pcapng files block by block.
type ngFile struct {
	order
	out []byte
}

func newNG(o order) *ngFile { return (&ngFile{order: o}).section() }

// block appends a block around the given words and bytes, padded.
func (f *ngFile) block(kind uint32, words []uint32, data string) *ngFile {
	body := []byte{}
	for _, w := range words {
		body = f.AppendUint32(body, w)
	}
	body = append(body, data...)
	body = append(body, make([]byte, -len(body)&3)...)
	total := uint32(len(body) + 12)
	f.out = f.AppendUint32(f.out, kind)
	f.out = f.AppendUint32(f.out, total)
	f.out = append(f.out, body...)
	f.out = f.AppendUint32(f.out, total)
	return f
}

func (f *ngFile) section() *ngFile {
	version := string(f.AppendUint16(f.AppendUint16(nil, 1), 0))
	return f.block(0x0a0d0d0a, []uint32{0x1a2b3c4d}, version+"\xff\xff\xff\xff\xff\xff\xff\xff")
}

// port declares an interface; opts are encoded options.
func (f *ngFile) port(link uint16, snap uint32, opts ...string) *ngFile {
	b := string(f.AppendUint16(nil, link)) + "\x00\x00" + string(f.AppendUint32(nil, snap))
	for _, o := range opts {
		b += o
	}
	return f.block(1, nil, b)
}

// option encodes an option.
func (f *ngFile) option(code uint16, value string) string {
	b := f.AppendUint16(f.AppendUint16(nil, code), uint16(len(value)))
	return string(b) + value + string(make([]byte, -len(value)&3))
}

func (f *ngFile) enhanced(id uint32, ticks uint64, data string, orig int, opts ...string) *ngFile {
	padded := data + string(make([]byte, -len(data)&3))
	for _, o := range opts {
		padded += o
	}
	return f.block(6, []uint32{id, uint32(ticks >> 32), uint32(ticks), uint32(len(data)), uint32(orig)}, padded)
}

func (f *ngFile) obsolete(id uint16, ticks uint64, data string, orig int) *ngFile {
	b := f.AppendUint16(f.AppendUint16(nil, id), 7) // 7 drops
	for _, w := range []uint32{uint32(ticks >> 32), uint32(ticks), uint32(len(data)), uint32(orig)} {
		b = f.AppendUint32(b, w)
	}
	return f.block(2, nil, string(b)+data)
}

func (f *ngFile) simple(data string, orig int) *ngFile {
	return f.block(3, []uint32{uint32(orig)}, data)
}

// frame is what the tests compare of a record; its data is kept.
type frame struct {
	Time    int64
	Data    string
	OrigLen int
	Index   int
	Offset  int64
}

// readAll reads a capture to its end; the error is nil for io.EOF.
func readAll(r *pcap.Reader) (frames []frame, err error) {
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, frame{rec.Time, string(rec.Data), rec.OrigLen, rec.Index, rec.Offset})
	}
}

// readBytes opens and reads a capture held in memory.
func readBytes(b []byte) ([]frame, error) { return readThrough(b, 256<<10) }

// readThrough is readBytes through a buffer of the given size.
func readThrough(b []byte, size int) ([]frame, error) {
	r, err := pcap.NewReaderSize(bytes.NewReader(b), "mem", size)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readAll(r)
}

// readAhead is readThrough while the next block is being read.
func readAhead(b []byte, size int) ([]frame, error) {
	r, err := pcap.NewReaderSize(bytes.NewReader(b), "mem", size)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.ReadAhead()
	return readAll(r)
}

// requireFault checks the parts of a fault that tell what happened and where.
func requireFault(t *testing.T, err error, p pcap.Problem, offset int64, frame int) {
	t.Helper()
	var fault *pcap.FormatError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, p, fault.Problem, "%v", err)
	require.Equal(t, offset, fault.Offset, "%v", err)
	require.Equal(t, frame, fault.Frame, "%v", err)
}

// gzipped compresses b.
func gzipped(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// zstded compresses b.
func zstded(t testing.TB, b []byte) []byte {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return z.EncodeAll(b, nil)
}

// u64 encodes a 64-bit option value.
func (f *ngFile) u64(v uint64) string { return string(f.AppendUint64(nil, v)) }
