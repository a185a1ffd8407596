//go:build linux

package realtime

import (
	"sync"

	"hpnn/datapath"
	"hpnn/simbackend"
	"hpnn/testbed"
)

// passages are frames that have passed the switch and were not told yet.
type passages struct {
	mu  sync.Mutex
	all []passage
}

type passage struct {
	in      datapath.Injection
	out     []datapath.Output
	verdict simbackend.Verdict
}

// take keeps a frame until the story lets time pass. None is left out: what the rules know of a conversation builds on all of
// its frames.
func (p *passages) take(in datapath.Injection, out []datapath.Output, v simbackend.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, passage{in, out, v})
}

func (p *passages) tell(tap testbed.Tap) {
	p.mu.Lock()
	all := p.all
	p.all = nil
	p.mu.Unlock()
	for _, f := range all {
		tap(f.in, f.out, f.verdict)
	}
}
