package pcap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Magics of compressed files (RFC 1952 2.3.1, RFC 8878 3.1.1).
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// zstdWindow is the largest window a zstd frame may ask for: 128 MiB, the limit of the
// zstd command without --long.
const zstdWindow = 128 << 20

// stream is a file's bytes, decompressed if they were compressed.
type stream struct {
	io.Reader
	close func()
}

// openStream looks at the first bytes of r and decompresses accordingly.
func openStream(r io.Reader) (stream, error) {
	var magic [4]byte
	n, err := io.ReadFull(r, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return stream{}, err
	}
	whole := io.MultiReader(bytes.NewReader(magic[:n]), r)
	switch {
	case bytes.HasPrefix(magic[:n], gzipMagic):
		z, err := gzip.NewReader(bufio.NewReaderSize(whole, readSize))
		if err != nil {
			return stream{}, fmt.Errorf("start gzip: %w", err)
		}
		return stream{Reader: z, close: func() {}}, nil
	case bytes.HasPrefix(magic[:n], zstdMagic):
		z, err := zstd.NewReader(whole, zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return stream{}, fmt.Errorf("start zstd: %w", err)
		}
		return stream{Reader: z, close: z.Close}, nil
	}
	return stream{Reader: whole, close: func() {}}, nil
}

// counter counts the bytes read through it; another goroutine may look on.
type counter struct {
	src  io.Reader
	done atomic.Int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.done.Add(int64(n))
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

// sourceError marks an error of the source, so that it is told from one the decompressor
// found.
type sourceError struct{ err error }

// Error implements error.
func (e *sourceError) Error() string { return e.err.Error() }

// Unwrap gives the source's own error.
func (e *sourceError) Unwrap() error { return e.err }
