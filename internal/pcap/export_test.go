package pcap

import "io"

// NewReaderSize is NewReader with a small buffer, so that tests meet its end everywhere.
func NewReaderSize(src io.Reader, name string, size int) (*Reader, error) {
	return newReader(src, name, size)
}
