package scenarios

import (
	"fmt"
	"time"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/testbed"
)

var sendCommand = command{
	name:  "send",
	usage: "send HOST FRAME",
	about: `Sends a frame from HOST, true or forged, and prints what leaves the switch because of it, and to whom; or why it was
dropped. See "What a frame is".`,
	example: `send client arp who-has 192.168.5.21
send cli2 tcp 10.20.0.100:80
send cli2 icmp 10.20.0.2 from=10.20.0.1
send cli2 udp 10.30.0.10:53 vlan=7`,
	needs: []testbed.Feature{testbed.RawFrames, testbed.Fates},
	run: func(t *story, a *args) error {
		host := a.word("HOST")
		s, err := t.parseFrame(host, a)
		if err != nil {
			return err
		}
		t.flush(host, [][]byte{s.frame(0)}, func(p passed) {
			for _, o := range p.out {
				t.print("to %s: %s", t.at(uint32(o.Port)), brief(o.Frame))
			}
			if len(p.out) == 0 {
				t.print("%s", dropReason(p))
			}
		})
		return nil
	},
}

// dropReason is why nothing left because of a frame.
func dropReason(p passed) string {
	v := p.verdict
	switch {
	case v.Err != nil:
		return fmt.Sprintf("dropped: %v", v.Err)
	case v.PacketIns > 0:
		return "to the node"
	case !v.Matched:
		return "dropped: the switch has no flow for it"
	}
	if reason, ok := pipeline.Why(v.Table, v.Flow.Priority); ok && len(v.Flow.Actions) == 0 {
		return fmt.Sprintf("dropped by %s: %s", tableName(v.Table), reason)
	}
	return fmt.Sprintf("nothing left; the last flow was in %s", tableName(v.Table))
}

// flush sends frames and tells what became of each. Kernels may let one overtake another on its way to the switch.
func (t *story) flush(host string, frames [][]byte, became func(passed)) {
	left := len(frames)
	waiting := map[string]int{}
	for _, f := range frames {
		waiting[string(packet.Pad(f))]++
	}
	t.sending = func(p passed) {
		if waiting[string(p.in.Frame)] > 0 {
			waiting[string(p.in.Frame)]--
			left--
			became(p)
		}
	}
	for _, f := range frames {
		t.trouble = t.bed.Hosts().Send(host, f)
	}
	t.until(func() bool { return left == 0 }, time.Second)
	t.sending = nil
}

var spoofCommand = command{
	name:  "spoof",
	usage: "spoof HOST N FRAME",
	about: `Sends N frames like FRAME from HOST, 100 a millisecond, each with another source MAC and another source address: those of
from=PREFIX one after another, or of the segment of HOST. Prints what became of them, counted. See "What a frame is".`,
	example: `spoof client 1000 udp 10.20.0.2:53
spoof client 1000 udp 10.20.0.2:53 from=100.64.0.0/10
fdb total`,
	needs: []testbed.Feature{testbed.RawFrames, testbed.Taps},
	run:   runSpoof,
}

func runSpoof(t *story, a *args) error {
	host, word := a.word("HOST"), a.word("N")
	n := a.parseInt("N", word, 1, 10_000_000)
	s, err := t.parseFrame(host, a)
	if err != nil {
		return err
	}
	if !s.vary.IsValid() {
		segment, _ := t.topology.SegmentOf(s.ip.Src)
		s.vary = segment.Prefix
	}
	counts := map[string]int{}
	reasons := map[flowLevel]string{}
	const batch = 100
	for sent := 0; sent < n; sent += batch {
		var frames [][]byte
		for i := sent; i < min(n, sent+batch); i++ {
			frames = append(frames, s.frame(i))
		}
		t.flush(host, frames, func(p passed) {
			for _, o := range p.out {
				counts["to "+t.at(uint32(o.Port))]++
			}
			if len(p.out) == 0 {
				counts[remembered(reasons, p)]++
			}
		})
		t.advance(time.Millisecond)
	}
	for _, line := range counted(counts) {
		t.print("%s", line)
	}
	return nil
}

// remembered is dropReason, worked out once for each flow.
func remembered(known map[flowLevel]string, p passed) string {
	if p.verdict.Err != nil || !p.verdict.Matched {
		return dropReason(p)
	}
	at := flowLevel{p.verdict.Table, p.verdict.Flow.Priority, p.verdict.PacketIns > 0}
	if known[at] == "" {
		known[at] = dropReason(p)
	}
	return known[at]
}

// flowLevel is what the reason of a drop depends on.
type flowLevel struct {
	table    openflow.TableID
	priority uint16
	reported bool
}

var captureCommand = command{
	name:  "capture",
	like:  likeFrames,
	usage: "capture HOST [macs] [TEXT...]",
	about: `Prints the frames that HOST has sent (>) and received (<) since the block of commands began, and whose line has each
TEXT. With macs, prints the Ethernet addresses too.`,
	example: `ping client 192.168.5.21
capture client`,
	needs: []testbed.Feature{testbed.RawFrames},
	run: func(t *story, a *args) error {
		host, macs, texts := a.word("HOST"), a.has("macs"), a.rest()
		if err := a.done(); err != nil {
			return err
		}
		if _, err := t.machine(host); err != nil {
			return err
		}
		if err := t.catchUp(); err != nil {
			return err
		}
		var lines []string
		for _, h := range t.heard[host] {
			line := brief(h.Frame)
			if macs {
				line = fmt.Sprintf("%v > %v %s", packet.MAC(h.Frame[6:12]), packet.MAC(h.Frame[0:6]), line)
			}
			arrow := "< "
			if h.Sent {
				arrow = "> "
			}
			if line = arrow + line; containsAll(line, texts) {
				lines = append(lines, line)
			}
		}
		for _, line := range repeats(lines) {
			t.print("%s", line)
		}
		return nil
	},
}
