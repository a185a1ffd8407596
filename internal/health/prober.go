package health

import (
	"context"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"hpnn/model"
)

// A Prober probes a member once.
type Prober interface {
	// Probe returns when it knows, when the target's timeout is over, or soon after the context is done. It may be called
	// for several targets at a time.
	Probe(ctx context.Context, t Target) Result
}

// A Target is whom to probe, from where, and for how long.
type Target struct {
	Address netip.AddrPort
	Source  netip.Addr    // the address the probe leaves from; the zero Addr leaves it to the system
	Timeout time.Duration // for the whole probe, from connecting to the last byte; 0 sets no bound
}

// NewProber returns the prober of a monitor, which reaches members through dial. The monitor's type must not be
// [model.MonitorNone], which has none.
func NewProber(m model.HealthMonitor, dial Dial) Prober {
	switch m.Type {
	case model.MonitorHTTP, model.MonitorHTTPS:
		p := HTTP{Dial: dial, Path: m.Path, Host: m.HostHeader, Expect: m.Expect, BodyLimit: m.BodyLimit}
		if m.Type == model.MonitorHTTPS {
			p.TLS = UnverifiedTLS(m.HostHeader)
		}
		return p
	case model.MonitorTCP:
		return TCP{Dial: dial}
	case model.MonitorUDP:
		return UDP{Dial: dial, Payload: m.Payload, Reply: m.Reply}
	case model.MonitorICMP:
		return ICMP{Dial: dial}
	}
	panic("health: no prober for monitor type " + m.Type.String())
}

// timed runs a probe under its timeout, takes its time and puts its error into words.
func timed(ctx context.Context, t Target, probe func(context.Context) error) Result {
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Timeout)
		defer cancel()
	}
	start := time.Now()
	err := probe(ctx)
	r := Result{Outcome: Passed}
	if err != nil {
		r = explain(ctx, t, err)
		r.Detail = brief(r.Detail)
	}
	r.Latency = time.Since(start)
	return r
}

// brief bounds a text that may quote what a member sent, and has it printable: it goes into logs and tables.
func brief(text string) string {
	const enough = 200
	if len(text) > enough {
		text = text[:enough] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
