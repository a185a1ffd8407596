//go:build linux

package realtime

import (
	"fmt"
	"sync"

	"hpnn/internal/packet"
	"hpnn/testbed"
)

// hosts are the machines of a bed.
type hosts struct {
	bed      *bed
	captures []*capture
	cards    cards

	mu    sync.Mutex
	heard []testbed.Heard // not told yet
}

func newHosts(b *bed) (*hosts, error) {
	h := &hosts{bed: b, cards: cards{}}
	if b.config.Heard == nil {
		return h, nil
	}
	for _, m := range b.site.Machines() {
		if m.About().Role == testbed.Kernel { // its card comes and goes with the switch
			continue
		}
		c, err := startCapture(m, b.Now, h.take)
		if err != nil {
			h.close()
			return nil, fmt.Errorf("listen at the card of %s: %w", m.About().Name, err)
		}
		h.captures = append(h.captures, c)
	}
	return h, nil
}

func (h *hosts) close() {
	for _, c := range h.captures {
		c.close()
	}
	h.captures = nil
	h.cards.close()
}

// heardLimit bounds the frames that wait to be told.
const heardLimit = 100_000

// take keeps a frame until the story lets time pass.
func (h *hosts) take(f testbed.Heard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.heard) < heardLimit {
		h.heard = append(h.heard, f)
	}
}

// tell brings the story the frames that were heard.
func (h *hosts) tell() {
	h.mu.Lock()
	heard := h.heard
	h.heard = nil
	h.mu.Unlock()
	for _, f := range heard {
		h.bed.config.Heard(f)
	}
}

func (h *hosts) find(name string) (Machine, error) {
	for _, m := range h.bed.site.Machines() {
		if m.About().Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("find host %q: there is none of this name", name)
}

// List implements testbed.Hosts.
func (h *hosts) List() (all []testbed.Machine) {
	for _, m := range h.bed.site.Machines() {
		all = append(all, m.About())
	}
	return all
}

// Do implements testbed.Hosts.
func (h *hosts) Do(name string, a testbed.Act) error {
	m, err := h.find(name)
	if err != nil {
		return err
	}
	switch a.Kind {
	case testbed.Sicken:
		return tellWeb(m, "/sicken")
	case testbed.Heal:
		return tellWeb(m, "/heal")
	}
	return m.Act(a)
}

// Send implements testbed.Hosts.
func (h *hosts) Send(name string, frame []byte) error {
	m, err := h.find(name)
	if err != nil {
		return err
	}
	frame = packet.Pad(frame)
	if h.bed.watched || h.bed.config.Tap == nil {
		return h.cards.transmit(m, frame)
	}
	return h.bed.examine(m, frame)
}

// Served implements testbed.Hosts.
func (h *hosts) Served(name, path string) (int, error) {
	m, err := h.find(name)
	if err != nil {
		return 0, err
	}
	return served(m, path)
}
