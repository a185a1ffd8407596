package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/replay"
	"hpnn/simbackend"
)

// The small world of these tests: a client at port 1, two backends at 2 and 3.
var (
	worldPorts = []simbackend.Port{{Number: 1, Name: "cli"}, {Number: 2, Name: "b2"}, {Number: 3, Name: "b3"}}
	client     = packet.MustMAC("02:00:00:00:00:01")
	node       = packet.MustMAC("02:00:00:00:00:0f")
)

// world is the node of some flows, a line each.
func world(t *testing.T, flows ...string) replay.Node {
	p, err := openflow.ParseProgram("test", strings.NewReader(strings.Join(flows, "\n")))
	require.NoError(t, err)
	return replay.FromFlows(p, worldPorts)
}

// balanced are flows that send connections to 10.0.0.9:80 to a backend and its answers back.
var balanced = []string{
	"table=0,priority=10,tcp,in_port=1,nw_dst=10.0.0.9,tp_dst=80,actions=ct(commit,zone=1,nat(dst=10.0.0.2:8080),table=1)",
	"table=0,priority=10,tcp,in_port=2,actions=ct(zone=1,nat,table=2)",
	"table=0,priority=0,actions=drop",
	"table=1,actions=output:2",
	"table=2,actions=output:1",
}

// at is a frame and when it came, since the test's beginning.
type at struct {
	time  time.Duration
	frame []byte
	wire  int // its length before the capture cut it; 0: whole
}

var beginning = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// input is a capture of frames that enter a port.
func input(t *testing.T, port openflow.PortNo, frames ...at) replay.Input {
	var b bytes.Buffer
	w := pcap.NewWriter(&b)
	for _, f := range frames {
		require.NoError(t, w.Write(pcap.Record{Time: beginning.Add(f.time).UnixNano(), Data: f.frame, OrigLen: f.wire}))
	}
	require.NoError(t, w.Close())
	return replay.Input{Port: port, Path: "test.pcap", Src: &b}
}

func run(t *testing.T, n replay.Node, inputs ...replay.Input) replay.Report {
	r, err := replay.Run(t.Context(), replay.Config{Node: n, Inputs: inputs})
	require.NoError(t, err)
	return r
}

// segment is a TCP segment of the client to the VIP.
func segment(port uint16, seq uint32, flags packet.Flags) packet.TCP {
	return packet.TCP{
		Eth: packet.Ether{Src: client, Dst: node}, IP: packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.9")},
		SrcPort: port, DstPort: 80, Seq: seq, Flags: flags, Window: 1000,
	}
}

// answer is a segment of the backend back to the client.
func answer(port uint16, seq, ack uint32, flags packet.Flags) packet.TCP {
	return packet.TCP{
		Eth: packet.Ether{Src: node, Dst: client}, IP: packet.IP{Src: netip.MustParseAddr("10.0.0.2"), Dst: netip.MustParseAddr("10.0.0.1")},
		SrcPort: 8080, DstPort: port, Seq: seq, Ack: ack, Flags: flags, Window: 1000,
	}
}

func TestMembersAreCountedByTranslation(t *testing.T) {
	r := run(t, world(t, balanced...),
		input(t, 1,
			at{time: 0, frame: segment(1000, 7, packet.SYN).Bytes()},
			at{time: time.Second, frame: segment(1000, 7, packet.SYN).Bytes()},      // again: lost on the way
			at{time: 2 * time.Second, frame: segment(1001, 7, packet.SYN).Bytes()},  // another
			at{time: 4 * time.Second, frame: segment(1000, 99, packet.SYN).Bytes()}, // the same port, used anew
		),
		input(t, 2, at{time: 3 * time.Second, frame: answer(1001, 1, 8, packet.SYN|packet.ACK).Bytes()}))
	require.Equal(t, []replay.MemberReport{{
		Member:   replay.Member{Address: netip.MustParseAddrPort("10.0.0.2:8080")},
		Sessions: 3, To: replay.Count{Frames: 4, Bytes: 4 * 54}, From: replay.Count{Frames: 1, Bytes: 54},
	}}, r.Members)
	require.Equal(t, replay.Fates{Forwarded: 5}, r.Fates)
	require.Equal(t, []replay.Connections{
		{Zone: 1, Protocol: "tcp", State: "ESTABLISHED", Count: 1}, // as the real switch calls it once the backend agreed
		{Zone: 1, Protocol: "tcp", State: "SYN_SENT", Count: 1},
	}, r.Connections)
}

func TestEveryFrameHasOneFate(t *testing.T) {
	n := world(t,
		"priority=50,udp,in_port=1,actions=output:2,output:3",
		"priority=40,ip,in_port=1,nw_ttl=1,actions=dec_ttl,output:2",
		"priority=30,icmp,in_port=1,icmp_type=8,actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:0->icmp_type,IN_PORT",
		"priority=20,arp,in_port=1,actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:2->arp_op,IN_PORT",
		"priority=10,dl_type=0x1234,actions=output:1",
		"priority=10,dl_type=0x1235,actions=resubmit(,0)",
		"priority=10,dl_type=0x1236,actions=drop",
	)
	eth := packet.Ether{Src: client, Dst: node}
	ip := packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.9")}
	dying := ip
	dying.TTL = 1
	other := func(etherType uint16) []byte { return eth.Frame(etherType, make([]byte, 46)) }
	r := run(t, n, input(t, 1,
		at{frame: packet.UDP{Eth: eth, IP: ip}.Bytes()},
		at{frame: packet.Datagram{Eth: eth, IP: dying, Proto: 99}.Bytes()},
		at{frame: packet.ICMP{Eth: eth, IP: ip, Type: packet.EchoRequest}.Bytes()},
		at{frame: packet.ARPRequest(client, ip.Src, ip.Dst).Bytes()},
		at{frame: other(0x1234)}, // out of where it came from: suppressed
		at{frame: other(0x1235)}, // never ends
		at{frame: other(0x1236)},
		at{frame: other(0x1237)}, // no flow
		at{frame: []byte("short")},
		at{frame: other(0x1236)},
	))
	require.Equal(t, replay.Fates{Flooded: 1, Punted: 1, AnsweredPing: 1, AnsweredARP: 1, Dropped: 6}, r.Fates)
	require.Equal(t, uint64(10), r.In.Frames)
	type row struct {
		reason replay.Reason
		frames uint64
		first  int
	}
	var rows []row
	for _, d := range r.Drops {
		rows = append(rows, row{d.Reason, d.Frames, d.Example.Frame})
	}
	require.Equal(t, replay.ByRule, r.Drops[0].Reason)
	require.Contains(t, r.Drops[0].Rule, "dl_type=0x1236 actions=drop", "the largest comes first")
	require.ElementsMatch(t, []row{
		{replay.ByRule, 2, 7}, {replay.ToAbove, 1, 2}, {replay.ByRule, 1, 5}, {replay.GivenUp, 1, 6}, {replay.ByMiss, 1, 8}, {replay.Runt, 1, 9},
	}, rows)
}

func TestFragmentsWaitForEachOther(t *testing.T) {
	n := world(t, "table=0,ip,in_port=1,actions=ct(table=1)", "table=1,actions=output:2")
	ip := packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.9"), ID: 5}
	first, last := ip, ip
	first.More, last.Offset = true, 1400
	fragment := func(h packet.IP) []byte { // large ones: the tracker takes small ones for an attack
		return packet.Datagram{Eth: packet.Ether{Src: client, Dst: node}, IP: h, Proto: packet.ProtoUDP, Payload: make([]byte, 1400)}.Bytes()
	}
	r := run(t, n, input(t, 1, at{frame: fragment(first)}, at{frame: fragment(last)}))
	require.Equal(t, replay.Fates{Held: 1, Forwarded: 1}, r.Fates)
	require.Equal(t, uint64(2), r.Out.Frames, "both leave with the last")
	require.Empty(t, r.Drops)
}

func TestLearnedFlowsThatDropAreCountedTogether(t *testing.T) {
	n := world(t, "table=0,priority=1,actions=learn(table=1,hard_timeout=60,NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),resubmit(,1)")
	var frames []at
	for i := range 50 {
		frame := packet.Ether{Src: packet.MAC{2, 5: byte(i)}, Dst: node}.Frame(0x1234, nil)
		frames = append(frames, at{frame: frame}, at{frame: frame}) // learns; then finds what it learned
	}
	r := run(t, n, input(t, 1, frames...))
	require.Len(t, r.Drops, 2)
	require.Equal(t, []replay.Reason{replay.ByMiss, replay.ByRule}, []replay.Reason{r.Drops[0].Reason, r.Drops[1].Reason})
	require.Equal(t, uint64(50), r.Drops[1].Frames)
	require.Len(t, r.Learned, 1)
	require.Len(t, r.Learned[0].Flows, 50)
}

func TestTimeStandsStillWhereStampsStepBack(t *testing.T) {
	out := t.TempDir()
	syn := segment(1000, 7, packet.SYN).Bytes()
	r, err := replay.Run(t.Context(), replay.Config{
		Node: world(t, "actions=output:2"), Out: out,
		Inputs: []replay.Input{input(t, 1, at{time: 0, frame: syn}, at{time: 5 * time.Second, frame: syn}, at{time: time.Second, frame: syn}, at{time: 6 * time.Second, frame: syn})},
	})
	require.NoError(t, err)
	require.Equal(t, 6*time.Second, r.Duration)
	require.Equal(t, beginning, r.Start)
	var left []time.Duration
	for _, f := range frames(t, filepath.Join(out, "b2.pcap")) {
		left = append(left, time.Unix(0, f.time).Sub(beginning))
	}
	require.Equal(t, []time.Duration{0, 5 * time.Second, 5 * time.Second, 6 * time.Second}, left)
}

func TestLearnedFlowsTimeOutByTheClockOfTheCaptures(t *testing.T) {
	n := world(t, "table=0,priority=1,in_port=1,actions=learn(table=1,hard_timeout=10,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[]),output:2",
		"table=0,priority=1,in_port=2,actions=resubmit(,1)")
	back := packet.Ether{Src: node, Dst: client}.Frame(0x1234, nil)
	r := run(t, n, input(t, 1, at{frame: packet.Ether{Src: client, Dst: node}.Frame(0x1234, nil)}),
		input(t, 2, at{time: 9 * time.Second, frame: back}, at{time: 12 * time.Second, frame: back}))
	require.Equal(t, replay.Fates{Forwarded: 2, Dropped: 1}, r.Fates)
	require.Empty(t, r.Learned)
}

func TestEveryPortHasAFile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new")
	require.NoError(t, os.MkdirAll(out, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(out, "b3.pcap"), []byte("of an earlier replay"), 0o666))
	_, err := replay.Run(t.Context(), replay.Config{
		Node: world(t, "in_port=1,actions=output:2", "in_port=2,actions=LOCAL"), Out: out,
		Inputs: []replay.Input{input(t, 1, at{frame: segment(1, 1, packet.SYN).Bytes()}), input(t, 2, at{frame: segment(1, 1, packet.SYN).Bytes()})},
	})
	require.NoError(t, err)
	sizes := map[string]int{}
	for _, name := range []string{"cli", "b2", "b3", "LOCAL"} {
		sizes[name] = len(frames(t, filepath.Join(out, name+".pcap")))
	}
	require.Equal(t, map[string]int{"cli": 0, "b2": 1, "b3": 0, "LOCAL": 1}, sizes)
}

func TestCutFramesAreCounted(t *testing.T) {
	whole := segment(1, 1, packet.SYN).Bytes()
	r := run(t, world(t, "actions=output:2"), input(t, 1, at{frame: whole[:40], wire: len(whole)}, at{frame: whole}))
	require.Equal(t, uint64(1), r.Snapped)
}

func TestFaultyCapturesAreReplayedAsFarAsTheyCanBeRead(t *testing.T) {
	dir := t.TempDir()
	syn := segment(1, 1, packet.SYN).Bytes()
	good := input(t, 1, at{frame: syn}, at{time: time.Second, frame: syn}).Src.(*bytes.Buffer).Bytes()
	foreign := bytes.Clone(good)
	foreign[20] = 105
	for name, data := range map[string][]byte{"cli.pcap": good[:len(good)-10], "b2.pcap": foreign, "b3.pcap": []byte("this is no capture")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	n := world(t, "actions=output:2")
	inputs, err := replay.InputsIn(dir, n)
	require.NoError(t, err)
	r, err := replay.Run(t.Context(), replay.Config{Node: n, Inputs: inputs})
	var faults replay.Faults
	require.ErrorAs(t, err, &faults)
	require.Equal(t, r.Faults, faults)
	require.Equal(t, uint64(1), r.In.Frames)
	places := map[string]int64{}
	for _, f := range faults {
		places[filepath.Base(f.File)] = f.Offset
		require.Contains(t, f.Text, "offset")
	}
	require.Equal(t, map[string]int64{"cli.pcap": 24 + 16 + 54, "b2.pcap": 20, "b3.pcap": 0}, places)
}

func TestMissingCaptureIsAnError(t *testing.T) {
	_, err := replay.Run(t.Context(), replay.Config{Node: world(t, "actions=drop"), Inputs: []replay.Input{{Port: 1, Path: "no/such/file.pcap"}}})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRefusedRulesAreAnError(t *testing.T) {
	_, err := replay.Run(t.Context(), replay.Config{Node: world(t, "actions=meter:1,output:2")})
	require.ErrorContains(t, err, "meter")
}

func TestUnwritableOutputIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := replay.Run(t.Context(), replay.Config{Node: world(t, "actions=drop"), Out: filepath.Join(file, "dir")})
	require.ErrorContains(t, err, "make directory")
}

func TestReplayStopsWhenItIsToldTo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var many []at
	for range 2000 {
		many = append(many, at{frame: segment(1, 1, packet.SYN).Bytes()})
	}
	var seen replay.Progress
	_, err := replay.Run(ctx, replay.Config{
		Node: world(t, "actions=output:2"), Inputs: []replay.Input{input(t, 1, many...)},
		Progress: func(p replay.Progress) { seen = p; stop() },
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "after 1024 frames")
	require.Equal(t, 512, seen.Frames)
	require.Positive(t, seen.Done)
	require.Zero(t, seen.Total, "a stream's size is not known")
}

func TestStepsTellWhatBecameOfEachFrame(t *testing.T) {
	var steps []string
	_, err := replay.Run(t.Context(), replay.Config{
		Node:   world(t, balanced...),
		Inputs: []replay.Input{input(t, 1, at{frame: segment(1, 1, packet.SYN).Bytes()}, at{frame: packet.ARPRequest(client, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.9")).Bytes()})},
		Explain: func(s replay.Step) {
			steps = append(steps, strings.Join([]string{s.Place.Port, string(s.Fate), string(s.Reason), s.Verdict.Flow.Match.String()}, "|"))
			require.Len(t, s.Trace.Outputs, map[replay.Fate]int{replay.Forwarded: 1}[s.Fate])
		},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"cli|forwarded||", "cli|dropped|rule|"}, steps)
}

func TestInputsAreNamedByPort(t *testing.T) {
	n := world(t, "actions=drop")
	for _, test := range []struct {
		files string
		want  string // ports, or part of the error
	}{
		{"cli.pcap b2.pcapng b3.pcap.gz LOCAL.pcapng.zst .hidden", "LOCAL 2 3 1"},
		{"cli.pcap nobody.pcap", `"nobody": no such port: use one of cli, b2, b3`},
		{"cli.pcap notes.txt", "notes.txt: name it <port>.pcap"},
		{"cli.pcap cli.pcap.gz", "are of one port: keep one"},
		{"", "has none: name them <port>.pcap, with one of the ports cli, b2, b3"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "passed-over"), 0o777))
		for name := range strings.FieldsSeq(test.files) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		}
		inputs, err := replay.InputsIn(dir, n)
		if err != nil {
			require.ErrorContains(t, err, test.want)
			continue
		}
		var ports []string
		for _, in := range inputs {
			ports = append(ports, in.Port.String())
		}
		require.Equal(t, test.want, strings.Join(ports, " "))
	}
	_, err := replay.InputsIn(filepath.Join(t.TempDir(), "nowhere"), n)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCompressedCapturesAreRead(t *testing.T) {
	in := input(t, 1, at{frame: segment(1, 1, packet.SYN).Bytes()})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(in.Src.(*bytes.Buffer).Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	in.Src = &packed
	require.Equal(t, uint64(1), run(t, world(t, "actions=output:2"), in).Fates.Forwarded)
}

func TestReportIsJSON(t *testing.T) {
	text, err := json.Marshal(run(t, world(t, balanced...)))
	require.NoError(t, err)
	require.NotContains(t, string(text), "null", "empty lists are lists")
}
