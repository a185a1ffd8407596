package conformance

import (
	"fmt"
	"slices"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// Record is what a switch did with a Case, as far as it can be seen from outside.
type Record struct {
	// Refused lists the bundles that were not accepted: 0 is that of the flows to start with, n the n-th event.
	Refused []int
	// Outputs are the frames sent, by port; those of one port in order.
	Outputs map[openflow.PortNo][][]byte
	// PacketIns are the frames sent to the controller, in order: lines of port, reason and frame in hex.
	PacketIns []string
	// Flows are the flows at the end, sorted lines.
	Flows []string
	// Connections are the tracked connections at the end, sorted lines of dpctl/dump-conntrack -s.
	Connections []string
	// Trace is the trace of the last frame, with the flows at the end, if the real switch can tell; else it is empty.
	Trace []string
	// Aborts counts frames at which ovs-vswitchd 3.1.0 ends. Only the simulator can tell.
	Aborts int
	// LeftBehind counts frames that left fragments to wait behind a recirculation. Only the simulator can tell.
	LeftBehind int
}

// muchOutput is how many frames sent are so many that one frame may have made more than 64 KiB of datapath actions.
const muchOutput = 1000

// manyPackets is how many frames sent to the controller are so many that the real switch may have lost some, and
// manyBytes how many bytes of them.
const (
	manyPackets = 300
	manyBytes   = 150_000
)

func (r Record) tooMuch() bool {
	n := 0
	for _, line := range r.PacketIns {
		n += len(line) / 2 // it is in hex
	}
	if len(r.PacketIns) > manyPackets || n > manyBytes {
		return true
	}
	n = 0
	for _, frames := range r.Outputs {
		n += len(frames)
	}
	return n > muchOutput
}

// Compare says how the second Record, got, first differs from the first, want; nothing if they are alike.
func Compare(want, got Record) string {
	if !slices.Equal(want.Refused, got.Refused) {
		return fmt.Sprintf("refused bundles: want %v, got %v", want.Refused, got.Refused)
	}
	for _, port := range allPorts() {
		if diff := compareOutputs(want.Outputs[port], got.Outputs[port]); diff != "" {
			return fmt.Sprintf("port %v, %s", port, diff)
		}
	}
	for i := range min(len(want.PacketIns), len(got.PacketIns)) {
		if want.PacketIns[i] != got.PacketIns[i] {
			return fmt.Sprintf("packet-ins: number %d:\n  want %s\n  got  %s", i, want.PacketIns[i], got.PacketIns[i])
		}
	}
	if len(want.PacketIns) != len(got.PacketIns) {
		return fmt.Sprintf("packet-ins: want %d, got %d", len(want.PacketIns), len(got.PacketIns))
	}
	if diff := compareLines(want.Flows, got.Flows); diff != "" {
		return "flows: " + diff
	}
	if diff := compareLines(want.Connections, got.Connections); diff != "" {
		return "connections: " + diff
	}
	return compareTraces(want.Trace, got.Trace)
}

func compareOutputs(want, got [][]byte) string {
	for i := range min(len(want), len(got)) {
		if diff := packet.Diff(want[i], got[i]); diff != "" {
			return fmt.Sprintf("frame %d (%s): %s", i, packet.Summary(want[i]), diff)
		}
	}
	switch {
	case len(want) > len(got):
		return fmt.Sprintf("frame %d is missing: %s", len(got), packet.Summary(want[len(got)]))
	case len(want) < len(got):
		return fmt.Sprintf("frame %d is too much: %s", len(want), packet.Summary(got[len(want)]))
	}
	return ""
}

// compareLines compares sorted lists.
func compareLines(want, got []string) string {
	var b strings.Builder
	for _, l := range want {
		if _, ok := slices.BinarySearch(got, l); !ok {
			fmt.Fprintf(&b, "\n  want %s", l)
		}
	}
	for _, l := range got {
		if _, ok := slices.BinarySearch(want, l); !ok {
			fmt.Fprintf(&b, "\n  got  %s", l)
		}
	}
	if b.Len() == 0 && len(want) != len(got) {
		return fmt.Sprintf("want %d lines, got %d", len(want), len(got))
	}
	return b.String()
}

// packetLine is a frame sent to the controller. OpenFlow 1.5 tells why an action set sent it, which we do not.
func packetLine(port openflow.PortNo, reason openflow.PacketInReason, frame []byte) string {
	if reason > openflow.ReasonInvalidTTL {
		reason = openflow.ReasonAction
	}
	return fmt.Sprintf("%v %v %x", port, reason, frame)
}

// flowLine is a flow with its counters and ages. Flags are left out, for ovs-ofctl sets some on its own, and so is the
// time since the flow was modified, which OpenFlow 1.5 does not tell.
func flowLine(e openflow.FlowEntry) string {
	e.Flags = 0
	return fmt.Sprintf("n_packets=%d n_bytes=%d age=%v idle=%v %v", e.Packets, e.Bytes, e.Duration, e.IdleAge, e.Flow)
}

// connLine is a connection as dpctl/dump-conntrack -s prints it.
func connLine(c datapath.Conn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s,orig=(%s),reply=(%s)", protoName(c.Orig.Proto), tuple(c.Orig), tuple(c.Reply))
	if c.Zone != 0 {
		fmt.Fprintf(&b, ",zone=%d", c.Zone)
	}
	fmt.Fprintf(&b, ",timeout=%d", int(c.Timeout.Seconds()))
	if c.Mark != 0 {
		fmt.Fprintf(&b, ",mark=%d", c.Mark)
	}
	if !c.Label.IsZero() {
		fmt.Fprintf(&b, ",labels=%s", openflow.CTLabel.Format(c.Label))
	}
	if c.State != "" {
		fmt.Fprintf(&b, ",protoinfo=(state=%s)", c.State)
	}
	return b.String()
}

func tuple(t datapath.Tuple) string {
	text := fmt.Sprintf("src=%v,dst=%v", t.Src, t.Dst)
	if t.Proto == packet.ProtoICMP {
		return text + fmt.Sprintf(",id=%d,type=%d,code=%d", t.ID, t.Type, t.Code)
	}
	return text + fmt.Sprintf(",sport=%d,dport=%d", t.SrcPort, t.DstPort)
}

func protoName(p uint8) string {
	names := map[uint8]string{1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 33: "dccp", 58: "icmpv6", 132: "sctp", 136: "udplite"}
	if name, ok := names[p]; ok {
		return name
	}
	return fmt.Sprint(p)
}
