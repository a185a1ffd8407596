package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/replay"
	"hpnn/simbackend"
)

// The lab is what a real switch did: testdata/ovs-lab/README.md tells how it was captured.
const lab = "testdata/ovs-lab"

var labPorts = []simbackend.Port{
	{Number: 1, Name: "pub0"}, {Number: 4, Name: "hcif-p2"}, {Number: 5, Name: "hcif-p3"}, {Number: 10, Name: "be1"},
	{Number: 11, Name: "be3"}, {Number: 12, Name: "cli2"}, {Number: 20, Name: "be2"}, {Number: 21, Name: "be4"}, {Number: 22, Name: "cli3"},
}

func labNode(t testing.TB) replay.Node {
	text, err := os.Open(filepath.Join(lab, "flows.txt"))
	require.NoError(t, err)
	defer text.Close()
	program, err := openflow.ParseProgram("flows.txt", text)
	require.NoError(t, err)
	return replay.FromFlows(program, labPorts)
}

func replayLab(t testing.TB, out string, more ...replay.Input) replay.Report {
	node := labNode(t)
	inputs, err := replay.InputsIn(filepath.Join(lab, "in"), node)
	require.NoError(t, err)
	report, err := replay.Run(t.Context(), replay.Config{Node: node, Inputs: append(inputs, more...), Out: out})
	require.NoError(t, err)
	return report
}

// sent is a frame that left a switch.
type sent struct {
	time int64
	conn string
	data string
}

func frames(t *testing.T, path string) []sent {
	r, err := pcap.Open(path)
	require.NoError(t, err)
	defer r.Close()
	var all []sent
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, sent{rec.Time, conversation(rec.Data), string(rec.Data)})
	}
}

// conversation names what a frame is part of, the same for both directions: the stations and, if
// it has any, the ends. A connection that takes two ways through the switch is two.
func conversation(frame []byte) string {
	stations := []string{string(frame[:6]), string(frame[6:12])}
	slices.Sort(stations)
	ends := []string{}
	if f := strings.Fields(packet.Summary(frame)); f[0] == "TCP" || f[0] == "UDP" || f[0] == "ICMP" {
		ends = []string{f[0], min(f[1], f[3]), max(f[1], f[3])}
	}
	return fmt.Sprintf("%x %x %v", stations, frame[12:14], ends)
}

func TestLabFramesAreThoseOfTheRealSwitch(t *testing.T) {
	out := t.TempDir()
	replayLab(t, out)
	for _, p := range labPorts {
		got := frames(t, filepath.Join(out, p.Name+".pcap"))
		want := frames(t, filepath.Join(lab, "out", p.Name+".pcap.gz"))
		requireSameFrames(t, p.Name, want, got)
	}
}

// requireSameFrames demands the same frames in the same order. Frames of different conversations
// may have changed places if the real switch sent them within a millisecond: the kernel stamped
// its captures a port at a time.
func requireSameFrames(t *testing.T, port string, want, got []sent) {
	require.Lenf(t, got, len(want), "frames out of %s", port)
	place := map[string][]int{} // in want, by conversation
	for i, f := range want {
		place[f.conn] = append(place[f.conn], i)
	}
	latest := int64(0)
	for i, f := range got {
		require.NotEmptyf(t, place[f.conn], "%s frame %d: the real switch sent no more of it: %s", port, i+1, packet.Summary([]byte(f.data)))
		w := want[place[f.conn][0]]
		place[f.conn] = place[f.conn][1:]
		if w.data != f.data {
			t.Fatalf("%s frame %d differs: %s\n%v", port, i+1, packet.Summary([]byte(w.data)), packet.Diff([]byte(w.data), []byte(f.data)))
		}
		require.LessOrEqualf(t, latest-w.time, int64(time.Millisecond), "%s frame %d left too late", port, i+1)
		latest = max(latest, w.time)
	}
}

// missed are the three frames that the real switch counted and the captures lack: they came before
// the captures began and after they ended.
func missed(t *testing.T) []replay.Input {
	cli2, be1, cli3 := packet.MustMAC("02:42:0a:14:00:0a"), packet.MustMAC("02:42:0a:14:00:02"), packet.MustMAC("02:42:0a:1e:00:0a")
	ask := packet.ARPRequest(cli2, netip.MustParseAddr("10.20.0.10"), netip.MustParseAddr("10.20.0.2"))
	ask.Eth.Dst = be1 // it verifies what it knows
	solicit := packet.ICMP{
		Eth:  packet.Ether{Src: cli3, Dst: packet.MustMAC("33:33:ff:1e:00:0a")},
		IP:   packet.IP{Src: netip.IPv6Unspecified(), Dst: netip.MustParseAddr("ff02::1:ff1e:a"), TTL: 255},
		Type: packet.NeighborSolicitation, Payload: make([]byte, 24),
	}
	return []replay.Input{
		capture(t, 22, labStart.Add(-time.Second/2), solicit.Bytes()),
		capture(t, 12, labStart.Add(16500*time.Millisecond), ask.Bytes()),
		capture(t, 10, labStart.Add(16501*time.Millisecond), ask.Reply(be1).Bytes()),
	}
}

// labStart is when the first frame of the captures came.
var labStart = time.Unix(1795974975, 607018700)

// capture is a capture of one frame.
func capture(t *testing.T, port openflow.PortNo, at time.Time, frame []byte) replay.Input {
	var b bytes.Buffer
	w := pcap.NewWriter(&b)
	require.NoError(t, w.Write(pcap.Record{Time: at.UnixNano(), Data: frame}))
	require.NoError(t, w.Close())
	return replay.Input{Port: port, Path: "test", Src: &b}
}

func TestLabCountersAreThoseOfTheRealSwitch(t *testing.T) {
	report := replayLab(t, "", missed(t)...)
	text, err := os.Open(filepath.Join(lab, "flows-after.txt"))
	require.NoError(t, err)
	defer text.Close()
	dump, err := openflow.ParseDump("flows-after.txt", text)
	require.NoError(t, err)
	requireSameLines(t, counters(dump), counters(report.Flows))
	requireAges(t, dump, report.Flows)
}

// requireSameLines demands the same lines in whatever order, and shows only those that differ.
func requireSameLines(t *testing.T, want, got []string) {
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		count[l]--
	}
	for _, l := range slices.Sorted(maps.Keys(count)) {
		if n := count[l]; n > 0 {
			t.Errorf("real switch: %s", l)
		} else if n < 0 {
			t.Errorf("simulator:   %s", l)
		}
	}
}

// counters lists flows and what they counted. A dump in OpenFlow 1.0 prints goto_table as a
// resubmit, so the two are taken for one at the end of a list of actions.
func counters(flows []openflow.FlowEntry) []string {
	var lines []string
	for _, e := range flows {
		f := e.Flow
		if n := len(f.Actions); n > 0 {
			if r, ok := f.Actions[n-1].(openflow.Resubmit); ok && r.InPort == openflow.PortIn {
				f.Actions = append(slices.Clone(f.Actions[:n-1]), openflow.GotoTable{Table: r.Table})
			}
		}
		lines = append(lines, fmt.Sprintf("n_packets=%d, n_bytes=%d, %v", e.Packets, e.Bytes, f))
	}
	return lines
}

// requireAges demands that every flow was hit last when it was on the real switch. The dump came some
// time after the last frame, its ages are whole seconds, and OVS counts the hits of a cached
// flow only when it looks at its cache, twice a second.
func requireAges(t *testing.T, dump, got []openflow.FlowEntry) {
	key := func(f openflow.Flow) string { f.Actions = nil; return f.String() }
	ages := map[string]time.Duration{}
	for _, f := range dump {
		ages[key(f.Flow)] = f.IdleAge
	}
	var lags []time.Duration
	for _, f := range got {
		if f.Packets > 0 {
			lags = append(lags, ages[key(f.Flow)]-f.IdleAge)
		}
	}
	require.LessOrEqual(t, slices.Max(lags)-slices.Min(lags), 1500*time.Millisecond, "ages differ by more than the time of the dump")
}

func TestLabConnectionsAreThoseOfTheRealSwitch(t *testing.T) {
	report := replayLab(t, "")
	text, err := os.ReadFile(filepath.Join(lab, "conntrack-after.txt"))
	require.NoError(t, err)
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	var got []string
	for _, c := range report.Tracked {
		got = append(got, dpctl(c))
	}
	requireSameLines(t, want, got)
}

// dpctl prints a TCP connection as dpctl/dump-conntrack does.
func dpctl(c datapath.Conn) string {
	tuple := func(t datapath.Tuple) string {
		return fmt.Sprintf("(src=%v,dst=%v,sport=%d,dport=%d)", t.Src, t.Dst, t.SrcPort, t.DstPort)
	}
	return fmt.Sprintf("tcp,orig=%s,reply=%s,zone=%d,protoinfo=(state=%s)", tuple(c.Orig), tuple(c.Reply), c.Zone, c.State)
}
