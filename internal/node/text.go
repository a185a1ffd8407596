package node

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Health is the status as a table for people: each pool, how it is watched, and its members.
func (s Status) Health() string {
	var b strings.Builder
	for i, p := range s.Pools {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.write(&b)
	}
	if s.Control.Failure != "" {
		fmt.Fprintf(&b, "\nthe switch is not in step: %s\n", s.Control.Failure)
	}
	return b.String()
}

func (p PoolStatus) write(b *strings.Builder) {
	fmt.Fprintf(b, "pool %s (%d): %d slots, %d of %d members in it, %s\n", p.Name, p.ID, p.Slots, p.Live, len(p.Members), p.Monitor)
	digest := p.Digest[:min(16, len(p.Digest))]
	fmt.Fprintf(b, "layout %s %s", p.Algorithm, digest)
	if !p.Changed.IsZero() {
		fmt.Fprintf(b, ", last change moved %d slots, %d of them foreign", p.Moved, p.Foreign)
	}
	b.WriteString("\n\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MEMBER\tADDRESS\tSTATE\tADMIN\tIN POOL\tSLOTS\tPROBES\tFAILURES\tMS\tPROBE SOURCE\tLAST ERROR")
	for _, m := range p.Members {
		fmt.Fprintln(w, strings.TrimRight(m.row(), "\t"))
	}
	_ = w.Flush()
}

// row is the member's line, columns separated by tabs.
func (m MemberStatus) row() string {
	in := "no"
	if m.InPool {
		in = "yes"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s", m.Name, m.Key, m.State, m.Admin, in, m.Slots,
		m.Probes, m.Failures, m.Latency.Milliseconds(), m.Source, m.LastError)
}

// String is the monitor in words: "http probe every 2s (timeout 1s, rise 2, fall 3)".
func (m MonitorStatus) String() string {
	if m.Type == "none" {
		return "not probed"
	}
	return fmt.Sprintf("%s probe every %v (timeout %v, rise %d, fall %d)", m.Type, round(m.Interval), round(m.Timeout), m.Rise, m.Fall)
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
