package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long work may take before it shows how far it is.
const patience = time.Second

// progress shows how much of the captures is read, on a terminal, if it takes longer than a second.
type progress struct {
	out   io.Writer // nil: nobody watches
	begun time.Time
	bar   *progressbar.ProgressBar
}

func (a *app) progress() *progress {
	p := &progress{begun: time.Now()}
	if isTerminal(a.stderr) {
		p.out = a.stderr
	}
	return p
}

// update tells that done bytes of total are read; total is 0 if it is not known.
func (p *progress) update(done, total int64) {
	if p.out == nil || p.bar == nil && time.Since(p.begun) < patience {
		return
	}
	if p.bar == nil {
		if total == 0 {
			total = -1 // a spinner
		}
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription("replaying"), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Set64(done) // fails only if the terminal is gone
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
