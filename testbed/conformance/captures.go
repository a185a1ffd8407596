package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
)

// Captures are frames of captures, those of one file in order.
type Captures [][][]byte

// capturedFrames bounds the frames that are taken from one file.
const capturedFrames = 200

// ReadCaptures reads the captures below a directory, sorted by name. What is not a capture of Ethernet is left out. The
// error wraps os.ErrNotExist if there is no such directory.
func ReadCaptures(dir string) (Captures, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read captures: %w", err)
	}
	var all Captures
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		frames, err := readCapture(filepath.Join(dir, e.Name()))
		var format *pcap.FormatError
		if err != nil && !errors.As(err, &format) {
			return nil, fmt.Errorf("read captures: %w", err)
		}
		if len(frames) > 0 {
			all = append(all, frames)
		}
	}
	return all, nil
}

func readCapture(path string) (frames [][]byte, err error) {
	r, err := pcap.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for len(frames) < capturedFrames {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		if len(record.Data) >= header {
			frames = append(frames, bytes.Clone(record.Data))
		}
	}
	return frames, nil
}

// captured lets some frames of a capture arrive, those of one sender at one port.
func (m *maker) captured() []Event {
	file := pick(m, m.captures...)
	from := m.IntN(len(file))
	part := file[from:min(len(file), from+1+m.IntN(6))]
	first := openflow.PortNo(1 + m.IntN(Ports))
	var frames []Frame
	for _, b := range part {
		if isFragment(b) || !m.allowed(b) {
			continue
		}
		port := first
		if !bytes.Equal(b[6:12], part[0][6:12]) {
			port = first%Ports + 1
		}
		frames = append(frames, Frame{port, slices.Clone(b)})
	}
	return m.arrive(frames...)
}
