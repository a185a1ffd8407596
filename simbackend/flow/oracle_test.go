package flow

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/testbed/dummy"
)

// runs is how many random cases a differential test tries: n, or HPNN_FLOW_RUNS times as many.
func runs(t *testing.T, n int) int {
	factor, err := strconv.Atoi(os.Getenv("HPNN_FLOW_RUNS"))
	if err != nil {
		return n
	}
	t.Logf("%d runs", n*factor)
	return n * factor
}

// seed is where random cases start: the same every time, or HPNN_FLOW_SEED.
func seed() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("HPNN_FLOW_SEED"), 10, 64)
	return n
}

// traced is the "Flow:" line of the real switch.
func traced(t *testing.T, sw *dummy.Switch, frame []byte) string {
	out, err := sw.Trace(t.Context(), "in_port=1", hex.EncodeToString(frame))
	require.NoError(t, err)
	line, _, _ := strings.Cut(out, "\n")
	return strings.TrimPrefix(line, "Flow: ")
}

func extracted(frame []byte) string {
	var k Key
	if _, ok := Extract(frame, 1, &k); !ok {
		return "not a frame"
	}
	return Format(&k)
}

func TestExtractAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	m := newMaker(seed())
	for range runs(t, 3000) {
		f := m.frame()
		require.Equal(t, traced(t, sw, f), extracted(f), "frame %x", f)
	}
}

// TestExtractCapturesAsRealSwitch takes every frame of public captures of odd and hostile traffic, but those
// above 64 KiB: they make ofproto/trace abort.
func TestExtractCapturesAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	seen := map[string]bool{}
	for _, file := range captures(t) {
		for _, f := range framesOf(t, file) {
			if len(f) < ethLen || len(f) > 0xffff || seen[string(f)] {
				continue
			}
			seen[string(f)] = true
			want := traced(t, sw, f)
			if strings.Contains(want, "nsh_") {
				continue // not printed; nothing can match it
			}
			require.Equal(t, want, extracted(f), "%s: frame %x", filepath.Base(file), f)
		}
	}
	t.Logf("%d frames", len(seen))
}

// captures lists the capture files, or skips the test.
func captures(t *testing.T) []string {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../../shared/pcaps"
	}
	files, err := filepath.Glob(filepath.Join(dir, "public", "*.pcap"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no captures in %s: set HPNN_CAPTURES", dir)
	}
	return files
}

func framesOf(t *testing.T, file string) [][]byte {
	r, err := pcap.Open(file)
	if err != nil {
		t.Logf("%s: %v", filepath.Base(file), err)
		return nil
	}
	defer r.Close()
	var frames [][]byte
	for {
		record, err := r.Next()
		if err != nil {
			return frames // a capture cut short is as good
		}
		frames = append(frames, bytes.Clone(record.Data))
	}
}

// TestFormatMaskedAsRealSwitch matches frames by one flow alone: what mattered is then what the flow says, the
// port and what the frame is.
func TestFormatMaskedAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(1)})
	m := newMaker(seed())
	for priority := range runs(t, 25) { // ever higher: flows just deleted still leave traces if they are not outranked
		frame := m.whole()
		var k Key
		_, ok := Extract(frame, 1, &k)
		require.True(t, ok)
		match := m.satisfied(&k)
		require.NoError(t, sw.ReplaceFlows(t.Context(), fmt.Sprintf("priority=%d,%v actions=drop", priority, match)))
		_, mask := Compile(match)
		addMask(&mask, of.InPort, of.EthType)
		if k.isIP() {
			addMask(&mask, of.IPFrag, of.IPProto) // the protocol since CVE-2023-1668
		}
		require.Equal(t, megaflow(t, sw, frame), FormatMasked(&k, &mask, 0), "%v on %x", match, frame)
	}
}

func megaflow(t *testing.T, sw *dummy.Switch, frame []byte) string {
	out, err := sw.Trace(t.Context(), "in_port=1", hex.EncodeToString(frame))
	require.NoError(t, err)
	_, line, _ := strings.Cut(out, "Megaflow: ")
	line, _, _ = strings.Cut(line, "\n")
	return line
}

func addMask(mask *Key, fields ...of.Field) {
	for _, f := range fields {
		mask.Set(f, f.Mask())
	}
}

// satisfied is a random match that a frame satisfies, on the Ethernet type and fields behind it.
func (m maker) satisfied(k *Key) of.Match {
	match := of.Match{}.With(of.EthType, k.Get(of.EthType))
	if k.isIP() {
		match = match.With(of.IPProto, k.Get(of.IPProto))
	}
	for _, f := range []of.Field{of.EthSrc, of.EthDst, of.IPSrc, of.IPDst, of.IPv6Src, of.IPv6Dst, of.IPv6Label, of.ARPSpa, of.ARPTpa, of.ARPSha,
		of.IPDSCP, of.IPECN, of.TCPSrc, of.TCPDst, of.TCPFlags, of.UDPSrc, of.UDPDst, of.SCTPDst} {
		if !Present(k, f) || k.frag() != 0 || !m.chance(30) {
			continue
		}
		mask := f.Mask()
		if f != of.IPDSCP && f != of.IPECN && m.chance(60) {
			mask = pick(m, mask.And(randomValue(m.Rand)), of.PrefixMask(1+m.IntN(f.Width()), f.Width()))
		}
		if n, ok := mask.PrefixLen(128); f.Width() == 128 && !ok && n < 128 {
			mask = mask.Or(of.Ones(4).Shl(124)) // ovs-ofctl takes a mask that begins with a digit for a prefix length
		}
		match = match.WithMask(f, k.Get(f).And(mask), mask)
	}
	return match
}

// TestFragmentLookupAsRealSwitch: ports of fragments are hidden from lookups, TCP flags are not.
func TestFragmentLookupAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(3)})
	require.NoError(t, sw.ReplaceFlows(t.Context(), "priority=2,tcp,tp_dst=80 actions=output:2\npriority=1,tcp,tcp_flags=+syn,tp_dst=0 actions=move:NXM_OF_TCP_DST[]->NXM_OF_ETH_SRC[0..15],output:3"))
	frame := bytesOf(t, macs+ip4("0028", "2000", "06")+tcp)
	require.NoError(t, sw.Receive(t.Context(), "p1", frame))
	got, err := sw.Outputs()
	require.NoError(t, err)
	var k Key
	Extract(frame, 1, &k)
	saved := k.HidePorts()
	require.Equal(t, []any{of.U64(0), of.U64(0x12)}, []any{k.Get(of.TCPDst), k.Get(of.TCPFlags)})
	k.ShowPorts(saved)
	want := rewritten(t, frame, func(k *Key) { k.SetSub(of.Subfield{Field: of.EthSrc, Width: 16}, k.Get(of.TCPDst)) })
	require.Equal(t, []dummy.Output{{Port: "p3", Frame: want}}, got)
}
