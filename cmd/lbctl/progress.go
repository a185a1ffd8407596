package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"hpnn/internal/replay"
)

// patience is how long work may take before it shows how far it is.
const patience = time.Second

// progress shows how far a replay has come, on a terminal, if it takes longer than a second.
type progress struct {
	out    io.Writer // nil: nobody watches
	begun  time.Time
	looked time.Time // when it was last shown
	bar    *progressbar.ProgressBar
}

func (a *app) progress() *progress {
	p := &progress{begun: time.Now()}
	if isTerminal(a.stderr) {
		p.out = a.stderr
	}
	return p
}

// update shows the state of a replay, ten times a second at most.
func (p *progress) update(at replay.Progress) {
	if p.out == nil {
		return
	}
	now := time.Now()
	if now.Sub(p.begun) < patience || now.Sub(p.looked) < patience/10 {
		return
	}
	p.looked = now
	if p.bar == nil {
		size := at.Total
		if size == 0 {
			size = -1 // a spinner
		}
		p.bar = progressbar.NewOptions64(size, progressbar.OptionSetWriter(p.out), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	}
	p.bar.Set64(at.Done) // fails only if the terminal is gone
	p.bar.Describe(describe(at, now.Sub(p.begun)))
}

// describe tells the frames replayed, their rate and, if the size of the captures is known, the time left.
func describe(at replay.Progress, passed time.Duration) string {
	rate := float64(at.Frames) / passed.Seconds()
	text := fmt.Sprintf("%d frames, %s frames/s", at.Frames, short(rate))
	if at.Total > 0 && at.Done > 0 {
		left := time.Duration(float64(passed) / float64(at.Done) * float64(at.Total-at.Done))
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// short writes a number with three digits and a unit.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
