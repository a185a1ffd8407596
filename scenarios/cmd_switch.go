package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/testbed"
)

// tableName is what the pipeline calls a table.
func tableName(id openflow.TableID) string {
	for _, t := range pipeline.Tables() {
		if t.ID == id {
			return t.Name
		}
	}
	return fmt.Sprint(id)
}

// findTable finds a table of the pipeline by name or number.
func findTable(word string) (openflow.TableID, bool) {
	for _, t := range pipeline.Tables() {
		if word == t.Name || word == fmt.Sprint(t.ID) {
			return t.ID, true
		}
	}
	return 0, false
}

func (t *story) flows() ([]openflow.FlowEntry, error) {
	return t.bed.Switch().Bridge().Flows(context.Background())
}

var flowsCommand = command{
	name:  "flows",
	like:  likeCount,
	usage: "flows TABLE [actions] [TEXT...]",
	about: `Prints the flows of a table, given by name or number, that have each TEXT, and how many packets each has matched; with
actions, also what they do.`,
	example: `flows listener nw_dst=192.168.5.21
flows arp actions 192.168.5.21`,
	run: func(t *story, a *args) error {
		word := a.word("TABLE")
		id, known := findTable(word)
		if !known {
			a.fail("the pipeline has no table %q", word)
		}
		actions := a.has("actions")
		var texts []string
		for key, value := range a.options {
			texts = append(texts, key+"="+value)
		}
		clear(a.options)
		texts = append(texts, a.rest()...)
		if err := a.done(); err != nil {
			return err
		}
		if err := t.catchUp(); err != nil {
			return err
		}
		entries, err := t.flows()
		for _, e := range entries {
			line := e.Flow.String()
			if e.Table != id || !containsAll(line, texts) {
				continue
			}
			if !actions {
				line, _, _ = strings.Cut(line, " actions=")
			}
			t.print("%d packets: %s", e.Packets, line)
		}
		return err
	},
}

// dropKey is a flow that drops, as far as its reason goes.
type dropKey struct {
	table  openflow.TableID
	reason string
}

var dropsCommand = command{
	name:  "drops",
	usage: "drops",
	about: `Prints how many frames the switch has dropped since drops was last asked for, by table and reason.`,
	example: `drops
get client http://192.168.5.21:81/ timeout=1s
drops`,
	run: func(t *story, a *args) error {
		if err := errors.Join(a.done(), t.catchUp()); err != nil {
			return err
		}
		entries, err := t.flows()
		if err != nil {
			return err
		}
		counts := map[dropKey]uint64{}
		var keys []dropKey
		for _, e := range entries {
			if reason, ok := pipeline.Why(e.Table, e.Priority); ok && len(e.Actions) == 0 {
				k := dropKey{e.Table, reason}
				if counts[k] += e.Packets; !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		for _, k := range keys {
			n := counts[k]
			if before := t.dropped[k]; before <= n { // flows that were put in anew count from 0
				n -= before
			}
			if n > 0 {
				t.print("%s: %s (%d)", tableName(k.table), k.reason, n)
			}
		}
		t.dropped = counts
		return nil
	},
}

var connsCommand = command{
	name:  "conns",
	like:  likeConns,
	usage: "conns [total] [TEXT...]",
	about: `Prints the connections that the switch tracks and whose line has each TEXT: what the client called and, in brackets,
who answers. With total, only how many.`,
	example: `get client http://192.168.5.21/
conns
conns total`,
	run: func(t *story, a *args) error {
		total, texts := a.has("total"), a.rest()
		if err := errors.Join(a.done(), t.catchUp()); err != nil {
			return err
		}
		conns, err := t.bed.Switch().Bridge().Conntrack().Connections(context.Background(), datapath.ConnFilter{})
		if err != nil {
			return err
		}
		n := 0
		for _, c := range conns {
			line := connLine(c)
			if !containsAll(line, texts) {
				continue
			}
			if n++; !total {
				t.print("%s", line)
			}
		}
		if total {
			t.print("%d", n)
		}
		return nil
	},
}

// connLine is a connection in one line.
func connLine(c datapath.Conn) string {
	zone := fmt.Sprintf("zone %d", c.Zone)
	for _, z := range pipeline.Zones() {
		if z.ID == c.Zone {
			zone = z.Name
		}
	}
	return fmt.Sprintf("%s: %v:%d > %v:%d (%v:%d) %s", zone, c.Orig.Src, c.Orig.SrcPort, c.Orig.Dst, c.Orig.DstPort,
		c.Reply.Src, c.Reply.SrcPort, c.State)
}

var fdbCommand = command{
	name:  "fdb",
	usage: "fdb [total]",
	about: `Prints what the switch has learned: MAC addresses behind the uplinks of private segments, and neighbours whose packets
were routed. With total, only how many, by segment.`,
	example: `ping client 10.20.0.10
fdb`,
	run: func(t *story, a *args) error {
		total := a.has("total")
		if err := a.done(); err != nil {
			return err
		}
		entries, err := t.flows()
		if err != nil {
			return err
		}
		counts := map[string]int{}
		for _, n := range pipeline.Learned(t.topology, entries) {
			what := n.MAC
			if n.Address != "" {
				what += " " + n.Address
			}
			if counts[n.Segment]++; !total {
				t.print("%s: %s on port %d", n.Segment, what, n.Port)
			}
		}
		if total {
			t.print("%s", orNothing(tally(counts)))
		}
		return nil
	},
}

var traceCommand = command{
	name:  "trace",
	usage: "trace HOST FRAME",
	about: `Prints what the switch would do now to a frame of HOST: the flow it would match in each table, and where it would leave.
See "What a frame is".`,
	example: `trace client tcp 192.168.5.21:80`,
	needs:   []testbed.Feature{testbed.RawFrames},
	run: func(t *story, a *args) error {
		host := a.word("HOST")
		s, err := t.parseFrame(host, a)
		if err != nil {
			return err
		}
		m, err := t.machine(host)
		if err != nil {
			return err
		}
		frame := s.frame(0)
		trace, err := t.bed.Switch().Bridge().Trace(context.Background(), datapath.Injection{InPort: m.Port, Frame: frame})
		if err != nil {
			return err
		}
		for _, p := range trace.Passes {
			if p.Resume != "" {
				t.print("the connection tracker says %s", p.Resume)
			}
			t.lookups(p.Nodes)
		}
		for _, o := range trace.Outputs {
			t.print("to %s: %s", t.at(uint32(o.Port)), brief(o.Frame))
		}
		if len(trace.Outputs) == 0 {
			t.print("nothing leaves")
		}
		return nil
	},
}

// lookups prints the tables of a trace.
func (t *story) lookups(nodes datapath.Nodes) {
	for _, n := range nodes.All() {
		if n.Kind == datapath.NodeTable {
			_, match, _ := strings.Cut(n.Text, ". ")
			t.print("%d %s: %s", n.Table, tableName(n.Table), match)
		}
	}
}
