package hpnn_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/pipeline"
	"hpnn/internal/replay"
	"hpnn/model"
)

// A talk is two segments on the reference stand: a station opens a connection, and who gets the segment answers.
type talk struct {
	who  string // the station's name in the diagram
	from station
	to   netip.AddrPort
	want string // the member that is to get it; empty: whoever does
}

// A station is where frames come from: a port of the node, and addresses.
type station struct {
	port string
	mac  string
	addr string
	next string // the MAC it sends to
}

var (
	outside = station{"pub0", "02:00:00:00:05:0d", "192.168.5.13", "02:42:c0:a8:05:14"}
	cli2    = station{"cli2", "02:42:0a:14:00:0a", "10.20.0.10", "02:42:0a:14:00:01"}
	be1     = station{"be1", "02:42:0a:14:00:02", "10.20.0.2", "02:42:0a:14:00:01"}
	kernel  = station{"hcif-p2", "02:42:0a:14:00:fd", "10.20.0.253", "02:42:0a:14:00:02"}
)

var talks = map[string]talk{
	"public":    {"client", outside, netip.MustParseAddrPort("192.168.5.21:80"), "be3"},
	"neighbour": {"cli2", cli2, netip.MustParseAddrPort("10.20.0.100:80"), "be1"},
	"across":    {"cli2", cli2, netip.MustParseAddrPort("10.20.0.100:80"), "be2"},
	"hairpin":   {"be1", be1, netip.MustParseAddrPort("10.20.0.100:80"), "be1"},
	"direct":    {"client", outside, netip.MustParseAddrPort("10.20.0.2:8080"), "be1"},
	"probe":     {"hcd", kernel, netip.MustParseAddrPort("10.20.0.2:8080"), "be1"},
}

// A leg is one frame of a talk: what became of it.
type leg struct {
	from, to string // names in the diagram
	out      string // the port it left by
	step     replay.Step
}

// legs lets the two segments of a talk pass the simulated node.
func (w talk) legs(t *testing.T) []leg {
	topology, err := model.Load("examples/hpnn.yaml")
	require.NoError(t, err)
	node := replay.FromTopology(topology, pipeline.State{})
	for port := uint16(40000); port < 40100; port++ {
		s, err := replay.NewSession(t.Context(), node)
		require.NoError(t, err)
		there := explain(t, s, node, w.from.port, w.syn(port))
		require.Len(t, there.Trace.Outputs, 1)
		out := there.Trace.Outputs[0]
		member := node.PortName(out.Port)
		if member != w.want {
			require.NoError(t, s.Close())
			continue
		}
		back := explain(t, s, node, member, answer(t, topology, member, out.Frame))
		require.Len(t, back.Trace.Outputs, 1)
		require.NoError(t, s.Close())
		return []leg{{w.who, member, member, there}, {member, w.who, node.PortName(back.Trace.Outputs[0].Port), back}}
	}
	t.Fatalf("no port of %s leads to %s", w.from.addr, w.want)
	return nil
}

func explain(t *testing.T, s *replay.Session, n replay.Node, port string, frame []byte) replay.Step {
	number, err := n.Port(port)
	require.NoError(t, err)
	record := pcap.Record{Data: frame, OrigLen: len(frame)}
	return s.Explain(replay.Frame{Port: number, Record: record}, func(int64, datapath.Output) {})
}

// syn is the segment that opens the connection.
func (w talk) syn(port uint16) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MustMAC(w.from.mac), Dst: packet.MustMAC(w.from.next)},
		IP:      packet.IP{Src: netip.MustParseAddr(w.from.addr), Dst: w.to.Addr(), Dont: true},
		SrcPort: port, DstPort: w.to.Port(), Seq: 1, Flags: packet.SYN, Window: 64240,
	}.Bytes()
}

// answer is the SYN-ACK of the host that got a SYN, to the station it came from.
func answer(t *testing.T, topology model.Topology, name string, syn []byte) []byte {
	host, ok := topology.Host(name)
	require.True(t, ok, name)
	addr := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(syn[at:])) }
	word := func(at int) uint16 { return binary.BigEndian.Uint16(syn[at:]) }
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC(host.MAC), Dst: packet.MAC(syn[6:12])},
		IP:      packet.IP{Src: addr(30), Dst: addr(26), Dont: true},
		SrcPort: word(36), DstPort: word(34), Seq: 1, Ack: 2, Flags: packet.SYN | packet.ACK, Window: 65160,
	}.Bytes()
}

// talkOf finds a talk by its name.
func talkOf(t *testing.T, arguments []string) talk {
	require.Len(t, arguments, 1)
	require.Contains(t, talks, arguments[0])
	return talks[arguments[0]]
}

// sequenceDiagram draws a talk in Mermaid's language.
func sequenceDiagram(t *testing.T, arguments []string, _ string) string {
	var b strings.Builder
	b.WriteString("```mermaid\nsequenceDiagram\n")
	legs := talkOf(t, arguments).legs(t)
	fmt.Fprintf(&b, "    participant C as %s\n    participant N as tables\n    participant T as connection tracker\n", legs[0].from)
	if legs[0].to != legs[0].from {
		fmt.Fprintf(&b, "    participant M as %s\n", legs[0].to)
	}
	ends := map[string]string{legs[0].to: "M", legs[0].from: "C"}
	for _, l := range legs {
		fmt.Fprintf(&b, "    %s->>N: %s\n", ends[l.from], terse(l.step.Frame.Data))
		for i, p := range l.step.Trace.Passes {
			if i > 0 {
				fmt.Fprintf(&b, "    T-->>N: %s\n", mermaidText(found(p.Resume)))
			}
			visits := visited(p.Nodes)
			var names []string
			for _, v := range visits {
				names = append(names, v.title())
			}
			fmt.Fprintf(&b, "    Note over N: %s\n", strings.Join(names, ", "))
			for _, v := range visits {
				for _, a := range v.actions {
					if strings.HasPrefix(a, "ct(") {
						fmt.Fprintf(&b, "    N->>T: %s\n", mermaidText(withoutLabel(a)))
					}
				}
			}
		}
		fmt.Fprintf(&b, "    N->>%s: %s\n", ends[l.to], terse(l.step.Trace.Outputs[0].Frame))
	}
	return b.String() + "```\n"
}

// mermaidText replaces what Mermaid takes for its own.
func mermaidText(s string) string { return strings.NewReplacer(";", ",", "#", "no. ").Replace(s) }

// found is what the tracker found, in short: "new, dnat".
func found(resume string) string {
	state, _, _ := strings.Cut(strings.TrimPrefix(resume, "ct_state="), ",")
	var words []string
	for word := range strings.SplitSeq(state, "|") {
		if word != "trk" {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

var execPart = regexp.MustCompile(`,exec\(.*\)\)$`)

func withoutLabel(ct string) string { return execPart.ReplaceAllString(ct, ",exec(label))") }

// terse is a frame in few words.
func terse(frame []byte) string {
	words := strings.Fields(packet.Summary(frame)) // TCP A > B [S] seq 1 win 64240 len 0 ttl 64
	flags := map[string]string{"[S]": "SYN", "[S.]": "SYN-ACK"}[words[4]]
	return fmt.Sprintf("%s %s > %s ttl %s", flags, words[1], words[3], words[len(words)-1])
}

// A visit is a lookup and what the flow did.
type visit struct {
	table   openflow.TableID
	text    string // the match and priority
	actions []string
}

func visited(nodes datapath.Nodes) (all []visit) {
	for i, n := range nodes.All() {
		if n.Kind != datapath.NodeTable {
			continue
		}
		_, text, _ := strings.Cut(n.Text, ". ")
		v := visit{table: n.Table, text: text}
		for _, c := range nodes.Under(i).All() {
			if c.Kind == datapath.NodeAction && c.Depth == n.Depth+1 {
				v.actions = append(v.actions, c.Text)
			}
		}
		all = append(all, v)
	}
	return all
}

// title is "10 listener".
func (v visit) title() string {
	for _, t := range pipeline.Tables() {
		if t.ID == v.table {
			return fmt.Sprintf("%d %s", t.ID, t.Name)
		}
	}
	return fmt.Sprint(v.table)
}

// wayOfFrames lists the flows that the frames of a talk hit, and what they did. Jumps and the detour around the hash are left out.
func wayOfFrames(t *testing.T, arguments []string, _ string) string {
	var b strings.Builder
	b.WriteString("```\n")
	for i, l := range talkOf(t, arguments).legs(t) {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "in by %s: %s\n", l.step.Place.Port, packet.Summary(l.step.Frame.Data))
		for _, p := range l.step.Trace.Passes {
			if p.Resume != "" {
				fmt.Fprintf(&b, "    tracker: %s\n", p.Resume)
			}
			for _, v := range visited(p.Nodes) {
				fmt.Fprintf(&b, "  %-19s %s\n", v.title(), v.text)
				for _, a := range v.actions {
					if !leftOut.MatchString(a) {
						fmt.Fprintf(&b, "  %-21s %s\n", "", a)
					}
				}
			}
		}
		fmt.Fprintf(&b, "out by %s: %s\n", l.out, packet.Summary(l.step.Trace.Outputs[0].Frame))
	}
	return b.String() + "```\n"
}

// leftOut are actions that a reader of a way need not see.
var leftOut = regexp.MustCompile(`^goto_table|XXREG1|xxreg1|^set_field:00:00:00:00:00:00->|^set_field:0->reg1`)

func TestTalksSayWhatTheyMean(t *testing.T) {
	for name, want := range map[string][2]string{ // what arrives at the member, and at the station
		"public":    {"SYN 192.168.5.13:40000 > 10.20.0.3:8080 ttl 63", "SYN-ACK 192.168.5.21:80 > 192.168.5.13:40000 ttl 63"},
		"neighbour": {"10.20.0.2:8080 ttl 64", "SYN-ACK 10.20.0.100:80 > 10.20.0.10:"},
		"across":    {"10.30.0.2:8080 ttl 63", "SYN-ACK 10.20.0.100:80 > 10.20.0.10:"},
		"hairpin":   {"SYN 10.20.0.1:", "SYN-ACK 10.20.0.100:80 > 10.20.0.2:"},
		"direct":    {"SYN 192.168.5.13:40000 > 10.20.0.2:8080 ttl 63", "SYN-ACK 10.20.0.2:8080 > 192.168.5.13:40000 ttl 63"},
		"probe":     {"SYN 10.20.0.253:40000 > 10.20.0.2:8080 ttl 64", "SYN-ACK 10.20.0.2:8080 > 10.20.0.253:40000 ttl 64"},
	} {
		for i, l := range talks[name].legs(t) {
			require.Contains(t, terse(l.step.Trace.Outputs[0].Frame), want[i], name)
		}
	}
}
