package replay

import (
	"fmt"
	"os"
	"path/filepath"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
)

// outputs writes the frames that leave, a capture for each port. Every port has one, also the one
// where nothing left, so that a file of an earlier replay is never taken for this one's. The local
// port has one if something left there.
type outputs struct {
	dir     string // "": nothing is written
	node    Node
	writers byPort[pcap.Writer]
	behind  *pcap.Behind
	err     error // the first
}

// openOutputs makes the directory and the empty captures.
func openOutputs(dir string, n Node) (*outputs, error) {
	o := &outputs{dir: dir, node: n}
	if dir == "" {
		return o, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make directory for captures: %w", err)
	}
	for _, p := range n.Ports {
		w, err := pcap.Create(o.path(p.Number))
		if err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	o.behind = pcap.WriteBehind()
	return o, nil
}

func (o *outputs) path(p openflow.PortNo) string {
	return filepath.Join(o.dir, o.node.PortName(p)+".pcap")
}

// write appends a frame that left at the given time, nanoseconds since 1970.
func (o *outputs) write(at int64, out datapath.Output) {
	if o.dir == "" || o.err != nil {
		return
	}
	w := o.writers.get(out.Port)
	if w == nil {
		if w, o.err = o.behind.Create(o.path(out.Port)); o.err != nil {
			return
		}
		o.writers.set(out.Port, w)
	}
	o.err = w.Write(pcap.Record{Time: at, Data: out.Frame})
}

// close completes the captures and returns the first error of all.
func (o *outputs) close() error {
	for _, w := range o.writers.all() {
		if err := w.Close(); o.err == nil {
			o.err = err
		}
	}
	o.writers = nil
	if o.behind != nil {
		o.behind.Close()
		o.behind = nil
	}
	return o.err
}
