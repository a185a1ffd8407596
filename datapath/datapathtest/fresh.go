package datapathtest

import (
	"context"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// fresh is a Bridge whose ports count from a moment on, as if they were new.
type fresh struct {
	datapath.Bridge
	before map[openflow.PortNo]datapath.Port
}

// Fresh makes a Bridge of one that was used before: its ports count anew.
func Fresh(ctx context.Context, b datapath.Bridge) (datapath.Bridge, error) {
	ports, err := b.Ports(ctx)
	f := fresh{b, map[openflow.PortNo]datapath.Port{}}
	for _, p := range ports {
		f.before[p.Number] = p
	}
	return f, err
}

// Ports subtracts what was counted before.
func (f fresh) Ports(ctx context.Context) ([]datapath.Port, error) {
	ports, err := f.Bridge.Ports(ctx)
	for i := range ports {
		p, before := &ports[i], f.before[ports[i].Number]
		p.RxFrames, p.RxBytes = p.RxFrames-before.RxFrames, p.RxBytes-before.RxBytes
		p.TxFrames, p.TxBytes = p.TxFrames-before.TxFrames, p.TxBytes-before.TxBytes
	}
	return ports, err
}
