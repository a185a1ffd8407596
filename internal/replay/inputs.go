package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
)

// Input is a capture of the frames that enter a port.
type Input struct {
	Port openflow.PortNo
	Path string
	Src  io.Reader // read instead of the file at Path, if it is not nil
}

// open opens the capture.
func (i Input) open() (*pcap.Reader, error) {
	if i.Src != nil {
		return pcap.NewReader(i.Src, i.Path)
	}
	return pcap.Open(i.Path)
}

// InputsIn lists the captures in a directory: each is called <port>.pcap or <port>.pcapng, and
// perhaps .gz or .zst after that. Directories and hidden files are passed over; any other name
// is an error, and so are two captures of one port.
func InputsIn(dir string, n Node) ([]Input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list captures: %w", err)
	}
	var inputs []Input
	byPort := map[openflow.PortNo]string{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		in := Input{Path: filepath.Join(dir, e.Name())}
		if in.Port, err = n.portOfFile(e.Name()); err != nil {
			return nil, fmt.Errorf("list captures: %s: %w", in.Path, err)
		}
		if other, twice := byPort[in.Port]; twice {
			return nil, fmt.Errorf("list captures: %s and %s are of one port: keep one", other, in.Path)
		}
		byPort[in.Port] = in.Path
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("list captures: %s has none: name them <port>.pcap, with one of the ports %s", dir, n.portNames())
	}
	return inputs, nil
}

var errNoCapture = errors.New("name it <port>.pcap or <port>.pcapng, perhaps with .gz or .zst")

// portOfFile is the port whose capture a file's name says it is.
func (n Node) portOfFile(name string) (openflow.PortNo, error) {
	stem, ok := CaptureStem(name)
	if !ok {
		return 0, errNoCapture
	}
	return n.Port(stem)
}

// CaptureStem is the name of a capture file without what says that it is one.
func CaptureStem(name string) (stem string, ok bool) {
	stem = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	for _, ending := range []string{".pcap", ".pcapng"} {
		if port, ok := strings.CutSuffix(stem, ending); ok {
			return port, true
		}
	}
	return "", false
}
