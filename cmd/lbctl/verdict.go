package main

import (
	"fmt"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/replay"
)

// verdict says in words what became of a frame.
func verdict(n replay.Node, s replay.Step) string {
	outs := s.Trace.Outputs
	switch s.Fate {
	case replay.AnsweredARP:
		return "answered with an ARP reply by port " + portTitle(n, outs[0].Port)
	case replay.AnsweredPing:
		return "answered with an echo reply by port " + portTitle(n, outs[0].Port)
	case replay.Flooded:
		return fmt.Sprintf("flooded by %d ports: %s", len(ports(n, outs)), strings.Join(ports(n, outs), ", "))
	case replay.Forwarded:
		return forwarded(n, s.Frame.Data, outs[0]) + " by port " + portTitle(n, outs[0].Port)
	case replay.Held:
		return "held: a fragment that waits for the rest of its datagram"
	}
	return stopped(n, s)
}

// forwarded says where a frame that left goes.
func forwarded(n replay.Node, in []byte, out datapath.Output) string {
	if m, ok := n.SentTo(in, out.Frame); ok {
		return "forwarded to " + memberTitle(m)
	}
	if m, ok := n.AnswerOf(in, out.Frame); ok {
		return "forwarded as the answer of " + memberTitle(m)
	}
	return "forwarded"
}

func memberTitle(m replay.Member) string {
	if m.Name == "" {
		return m.Address.String()
	}
	return fmt.Sprintf("%s (%v)", m.Name, m.Address)
}

// ports names the ports that frames left by, each once.
func ports(n replay.Node, outs []datapath.Output) []string {
	var names []string
	seen := map[openflow.PortNo]bool{}
	for _, o := range outs {
		if !seen[o.Port] {
			seen[o.Port] = true
			names = append(names, portTitle(n, o.Port))
		}
	}
	return names
}

// stopped says where a frame ended of which nothing left.
func stopped(n replay.Node, s replay.Step) string {
	v := s.Verdict
	in := "in table " + title(n, v.Table)
	switch s.Reason {
	case replay.Runt:
		return "dropped: shorter than an Ethernet header"
	case replay.GivenUp:
		return fmt.Sprintf("given up %s: %v", in, v.Err)
	case replay.ToAbove:
		return fmt.Sprintf("handed to the controller %s by %s", in, condition(v.Flow))
	case replay.ByMiss:
		return fmt.Sprintf("dropped %s: no flow matches", in)
	}
	if len(v.Flow.Actions) > 0 {
		return fmt.Sprintf("dropped %s: %s left nothing", in, condition(v.Flow))
	}
	return fmt.Sprintf("dropped %s by %s", in, condition(v.Flow))
}

// condition is what a flow matches.
func condition(f openflow.Flow) string {
	text := fmt.Sprintf("priority=%d", f.Priority)
	if m := f.Match.String(); m != "" {
		text += "," + m
	}
	return text
}
