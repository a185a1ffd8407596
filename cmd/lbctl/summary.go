package main

import (
	"fmt"
	"time"

	"hpnn/internal/replay"
)

// summary prints a report for people.
func (a *app) summary(n replay.Node, r replay.Report) {
	fmt.Fprintf(a.stdout, "%s in, %s out, %s", plural(r.In.Frames, "frame"), plural(r.Out.Frames, "frame"), r.Duration.Round(time.Millisecond))
	if r.In.Frames > 0 {
		fmt.Fprintf(a.stdout, " from %s", r.Start.Format("2006-01-02 15:04:05.000000 MST"))
	}
	fmt.Fprint(a.stdout, "\n\n")
	a.fates(r)
	a.portGrid(n, r)
	a.memberGrid(r)
	a.dropList(n, r)
	a.connectionGrid(r)
	a.learnedList(r)
}

// fates prints what became of the frames that came in.
func (a *app) fates(r replay.Report) {
	g := newGrid("  WHAT BECAME OF THEM", ">FRAMES", "")
	each := func(name string, n uint64, note string) {
		if n > 0 {
			g.add("  "+name, n, note)
		}
	}
	f := r.Fates
	each("forwarded", f.Forwarded, "left by one port")
	each("flooded", f.Flooded, "left by several ports")
	each("answered ARP", f.AnsweredARP, "by the node, for its own addresses")
	each("answered ping", f.AnsweredPing, "likewise")
	each("held", f.Held, "fragments that waited for the rest of their datagram")
	each("to the controller", f.Punted, "nothing left; without a controller, dropped")
	each("dropped", f.Dropped, "see below")
	g.write(a.stdout, a.paint)
	if len(g.rows) > 0 {
		fmt.Fprintln(a.stdout)
	}
	if r.Own > 0 {
		a.note("%s the node's own MAC address as source: the capture holds both directions, and what the node sent is no input",
			carries(r.Own))
	}
	if r.Snapped > 0 {
		a.note("%s cut short by the capture (snap length) and taken as cut: capture with -s 0", were(r.Snapped))
	}
}

func carries(n uint64) string {
	if n == 1 {
		return "1 dropped frame carries"
	}
	return fmt.Sprintf("%d dropped frames carry", n)
}

func were(n uint64) string {
	if n == 1 {
		return "1 frame was"
	}
	return fmt.Sprintf("%d frames were", n)
}

// note prints what a person should know to read the numbers.
func (a *app) note(format string, args ...any) {
	for i, line := range wrap(fmt.Sprintf(format, args...), a.width()-8) {
		lead := "  note: "
		if i > 0 {
			lead = "        "
		}
		fmt.Fprintln(a.stdout, a.paint.in(yellow, lead+line))
	}
	fmt.Fprintln(a.stdout)
}

func (a *app) portGrid(n replay.Node, r replay.Report) {
	g := newGrid("  PORT", ">FRAMES IN", ">BYTES IN", ">FRAMES OUT", ">BYTES OUT")
	for _, p := range r.Ports {
		if p.In.Frames > 0 || p.Out.Frames > 0 {
			g.add("  "+portTitle(n, p.Number), p.In.Frames, p.In.Bytes, p.Out.Frames, p.Out.Bytes)
		}
	}
	a.section(g)
}

// memberGrid prints what members got. Those of a topology have names and are all listed. Those of
// flows may be many, and the ones that nothing was sent to are left out.
func (a *app) memberGrid(r replay.Report) {
	numbers := []string{">SESSIONS", ">FRAMES TO", ">BYTES TO", ">FRAMES FROM", ">BYTES FROM"}
	named := newGrid(append([]string{"  MEMBER", "ADDRESS"}, numbers...)...)
	bare := newGrid(append([]string{"  MEMBER"}, numbers...)...)
	var sessions, from uint64
	for _, m := range r.Members {
		sessions, from = sessions+m.Sessions, from+m.From.Frames
		switch {
		case m.Name != "":
			named.add("  "+m.Pool+"/"+m.Name, m.Address, m.Sessions, m.To.Frames, m.To.Bytes, m.From.Frames, m.From.Bytes)
		case m.To.Frames > 0 || m.From.Frames > 0:
			bare.add(fmt.Sprint("  ", m.Address), m.Sessions, m.To.Frames, m.To.Bytes, m.From.Frames, m.From.Bytes)
		}
	}
	a.section(named)
	a.section(bare)
	if sessions > 0 && from == 0 {
		a.note("no member answered: what members sent is not among the captures, so the connection tracker saw one side only")
	}
}

func (a *app) dropList(n replay.Node, r replay.Report) {
	if len(r.Drops) == 0 {
		return
	}
	fmt.Fprintln(a.stdout, a.paint.in(bold, "  DROPPED, BY TABLE AND RULE"))
	for _, d := range r.Drops {
		table := "table " + title(n, d.Table)
		if d.Reason == replay.Runt {
			table = "no table"
		}
		fmt.Fprintf(a.stdout, "  %6d  %-26s first: %s frame %d at %s\n", d.Frames, table,
			d.Example.Port, d.Example.Frame, offset(d.Example.Time.Sub(r.Start)))
		for _, line := range wrap(cause(d), a.width()-10) {
			fmt.Fprintln(a.stdout, "          "+a.paint.in(dim, line))
		}
	}
	fmt.Fprintln(a.stdout)
}

// cause says what stopped frames.
func cause(d replay.Drop) string {
	switch d.Reason {
	case replay.ByMiss:
		return "no flow matches"
	case replay.Runt:
		return "shorter than an Ethernet header"
	case replay.GivenUp:
		return d.Error + ": " + d.Rule
	case replay.ToAbove:
		return "to the controller: " + d.Rule
	}
	return d.Rule
}

// offset is a duration in seconds, to the microsecond and with its sign.
func offset(d time.Duration) string { return fmt.Sprintf("%+.6f s", d.Seconds()) }

func (a *app) connectionGrid(r replay.Report) {
	g := newGrid("  CONNECTIONS AT THE END", "PROTOCOL", "STATE", ">NUMBER")
	for _, c := range r.Connections {
		zone := fmt.Sprintf("zone %d", c.Zone)
		if c.ZoneName != "" {
			zone += " " + c.ZoneName
		}
		g.add("  "+zone, c.Protocol, c.State, c.Count)
	}
	a.section(g)
}

// learnedShown is how many learned flows of a table are printed for people.
const learnedShown = 8

func (a *app) learnedList(r replay.Report) {
	if len(r.Learned) == 0 {
		return
	}
	fmt.Fprintln(a.stdout, a.paint.in(bold, "  LEARNED FLOWS AT THE END"))
	for _, l := range r.Learned {
		for i, flow := range l.Flows {
			if i == learnedShown {
				fmt.Fprintf(a.stdout, "  and %d more of table %d: --json lists them\n", len(l.Flows)-i, l.Table)
				break
			}
			for j, line := range wrap(flow, a.width()-6) {
				if j > 0 {
					line = "    " + line
				}
				fmt.Fprintln(a.stdout, "  "+line)
			}
		}
	}
	fmt.Fprintln(a.stdout)
}

func (a *app) section(g *grid) {
	g.write(a.stdout, a.paint)
	if len(g.rows) > 0 {
		fmt.Fprintln(a.stdout)
	}
}
