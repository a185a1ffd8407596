package pcap

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// Reader reads the frames of one capture. It is not safe for concurrent use, except for
// Progress.
type Reader struct {
	name    string
	in      *window
	raw     *counter
	total   int64
	stream  stream
	file    *os.File // nil unless Open opened it
	format  format
	rec     Record       // the last that Next gave
	frames  int          // frames met so far
	foreign *FormatError // first frame of a foreign link type in a pcapng file
	passed  int          // frames of a foreign link type
	err     error        // what every further call to Next gives

	released bool
	busy     <-chan struct{} // closed when nobody reads ahead any more; nil: nobody did
}

// format reads the records of one file format.
type format interface {
	// next sets the record to the next Ethernet frame. At the end of the file, between
	// records, it gives io.EOF.
	next(*Reader, *Record) error
}

// Open opens a capture file. The error is a *FormatError if the file is no capture of
// Ethernet frames, otherwise that of the operating system.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open capture: %w", err)
	}
	r, err := NewReader(file, path)
	if err != nil {
		file.Close()
		return nil, err
	}
	r.file = file
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		r.total = info.Size()
	}
	return r, nil
}

// NewReader reads a capture from src, decompressing it where needed; name stands for it
// in errors. It reads the file header at once and fails as Open does.
func NewReader(src io.Reader, name string) (*Reader, error) {
	return newReader(src, name, readSize)
}

// newReader is NewReader with a buffer of the given size to begin with.
func newReader(src io.Reader, name string, size int) (*Reader, error) {
	r := &Reader{name: name, raw: &counter{src: src}}
	s, err := openStream(r.raw)
	if err != nil {
		return nil, r.broken(0, err)
	}
	r.stream, r.in = s, newWindow(s, size)
	if r.format, err = r.detect(); err != nil {
		s.close()
		return nil, err
	}
	return r, nil
}

// detect chooses the format by the file's first four bytes.
func (r *Reader) detect() (format, error) {
	head := r.in.peek(4)
	if len(head) < 4 {
		return nil, r.short(0, "the file's magic number", 4, len(head))
	}
	magic := leUint32(head)
	if magic == blockSection {
		return newNG(r)
	}
	for _, layout := range classics {
		switch magic {
		case layout.magic:
			return newClassic(r, layout)
		case bits.ReverseBytes32(layout.magic):
			layout.swapped = true
			return newClassic(r, layout)
		}
	}
	return nil, r.fault(0, BadMagic, fmt.Sprintf("begins with % x; pcap and pcapng are read, plain, gzip or zstd", head))
}

// Next gives the next frame. At the end it gives io.EOF, after a fault a *FormatError or
// the error of the source, and keeps doing so. A pcapng file may hold frames of foreign
// link types beside Ethernet: they are numbered, passed over, and reported in place of
// io.EOF, or joined with the fault that ended the reading (errors.As finds either).
func (r *Reader) Next() (Record, error) {
	if err := r.next(&r.rec); err != nil {
		return Record{}, err
	}
	return r.rec, nil
}

// next is Next without a copy.
func (r *Reader) next(rec *Record) error {
	if r.err != nil {
		return r.err
	}
	if err := r.format.next(r, rec); err != nil {
		r.err = r.final(err)
		r.release()
	}
	return r.err
}

// ReadAhead lets the source be read, and decompressed, on a goroutine of its own while the frames
// before are being used. It starts when the first 256 KiB are used up, and ends at the end of the
// capture or with Close. It is to be called before Next.
func (r *Reader) ReadAhead() { r.in.eager = true }

// release gives up the buffers, and the decompressor as soon as nobody reads from it.
func (r *Reader) release() {
	if r.released {
		return
	}
	r.released = true
	r.busy = r.in.drop()
	if r.busy == nil {
		r.stream.close()
		return
	}
	go func() {
		<-r.busy
		r.stream.close()
	}()
}

// final adds what was passed over to the error that ends the reading.
func (r *Reader) final(err error) error {
	if r.foreign == nil {
		return err
	}
	r.foreign.Detail += fmt.Sprintf("; %d such frames passed over", r.passed)
	if err == io.EOF {
		return r.foreign
	}
	return errors.Join(r.foreign, err)
}

// passOver counts a frame of a foreign link type and remembers the first.
func (r *Reader) passOver(offset int64, link uint32) {
	if r.passed == 0 {
		r.foreign = r.fault(offset, ForeignLink, linkFault(link))
	}
	r.frames++
	r.passed++
}

// Progress gives the bytes read of the file as it is stored, and the file's size, 0 if it
// is not known. It may be called while another goroutine reads.
func (r *Reader) Progress() (done, total int64) { return r.raw.done.Load(), r.total }

// Name is the file's name as given to Open or NewReader.
func (r *Reader) Name() string { return r.name }

// Close frees the decompressor and closes the file Open opened. The last record's bytes
// are no longer valid.
func (r *Reader) Close() error {
	r.release()
	r.err = fmt.Errorf("read capture %s: %w", r.name, os.ErrClosed)
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if r.busy != nil {
		<-r.busy
	}
	return err
}

// fault makes the error for a fault at the given offset of the part being read.
func (r *Reader) fault(offset int64, p Problem, detail string) *FormatError {
	frame := 0
	if r.format != nil {
		frame = r.frames + 1
	}
	return &FormatError{Name: r.name, Offset: offset, Frame: frame, Problem: p, Detail: detail}
}

// short makes the error for a part of which got bytes could be read instead of want:
// because the stream broke, or because the file ends.
func (r *Reader) short(offset int64, part string, want, got int) error {
	if err := r.in.failure(); err != nil {
		return r.broken(offset, err)
	}
	return r.fault(offset, Truncated, fmt.Sprintf("%s has %d bytes, %d are there", part, want, got))
}

// broken makes the error for a stream that broke: the operating system's, if the source
// failed, otherwise a fault of the compression.
func (r *Reader) broken(offset int64, err error) error {
	var source *sourceError
	if errors.As(err, &source) {
		if r.frames == 0 {
			return fmt.Errorf("read capture %s: %w", r.name, source.err)
		}
		return &ReadError{Name: r.name, Offset: offset, Frame: r.frames + 1, Err: source.err}
	}
	fault := r.fault(offset, Corrupt, err.Error())
	if errors.Is(err, io.ErrUnexpectedEOF) {
		fault = r.fault(offset, Truncated, "the compressed stream breaks off")
	}
	fault.Err = err
	return fault
}

// end is the error at a place where a file may end.
func (r *Reader) end() error {
	if err := r.in.failure(); err != nil {
		return r.broken(r.in.offset(), err)
	}
	return io.EOF
}

// leUint32 reads a little-endian word.
func leUint32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
