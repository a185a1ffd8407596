package openflow_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// words are what mutations put into lines: what people write, and what they should not.
var words = strings.Fields(`ip ipv6 tcp udp sctp icmp icmp6 arp rarp tcp6 udp6 eth nw_src=10.0.0.1 nw_dst=10.0.0.0/8
	nw_src=10.0.0.1/8 ipv6_src=fd00::/8 tp_src=80 tp_dst=0x50/0xf0 tcp_dst=80 udp_dst=53 icmp_type=8 icmp_code=0
	nw_proto=6 nw_tos=32 nw_tos=33 ip_dscp=9 nw_ecn=1 nw_ttl=5 nw_frag=first tcp_flags=+syn-ack ct_state=+trk+new
	ct_zone=5 ct_mark=5/7 ct_mark=5/3 reg0=5 reg0[0..3]=5 xreg0=6 metadata=0x5/0xff in_port=3 in_port=LOCAL
	dl_vlan=5 dl_vlan=0xffff dl_vlan_pcp=3 vlan_tci=0x1000/0x1000 vlan_tci=0 vlan_vid=0x1005 dl_src=1:2:3:4:5:6
	dl_type=0x800 dl_type=0x88cc arp_op=1 arp_spa=10.0.0.1 table=3 priority=7 cookie=5 idle_timeout=5 send_flow_rem
	actions= drop output:2 IN_PORT NORMAL CONTROLLER:128 dec_ttl pop_vlan push_vlan:0x8100 mod_vlan_vid:5 mod_nw_dst:10.0.0.1
	mod_tp_dst:80 set_field:5->reg0 load:5->NXM_NX_REG0[] load:5->NXM_NX_REG0[0..3] load:1.2.3.4->NXM_NX_REG0[]
	move:NXM_NX_REG0[]->NXM_NX_REG1[] move:reg0[0..7]->reg1[8..15] goto_table:9 resubmit(,5) resubmit(2,5) ct(commit)
	ct(table=5,zone=3,nat) ct(commit,exec(set_field:5->ct_mark)) ct(commit,nat(dst=10.0.0.1:80)) ct_clear exit note:00.01
	multipath(symmetric_l4,1,modulo_n,1024,0,NXM_NX_REG1[]) learn(table=5,reg0,output:NXM_OF_IN_PORT[])
	learn(table=5,eth_type=0x800,NXM_OF_IP_SRC[]=NXM_OF_IP_DST[]) clone(output:1) write_actions(output:1) clear_actions
	write_metadata:5/0xff check_pkt_larger(1500)->reg0[0] group:5 meter:1 set_queue:1 enqueue:2:3 0 1 0x 0x10 65535 65536
	/ -> , = : ( ) [ ] [] .. * -1 + - | ff:ff /24 /0xf 255.255.0.0 -new`)

var tokens = regexp.MustCompile(`[A-Za-z0-9_.]+|.`)

// mutate changes a line in a few places.
func mutate(r *rand.Rand, line string) string {
	parts := tokens.FindAllString(line, -1)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(parts) + 1)
		switch r.IntN(6) {
		case 0, 1:
			parts = append(parts[:i:i], append([]string{words[r.IntN(len(words))]}, parts[i:]...)...)
		case 2:
			if i < len(parts) {
				parts = append(parts[:i:i], parts[i+1:]...)
			}
		case 3:
			if i < len(parts) {
				parts[i] = words[r.IntN(len(words))]
			}
		case 4:
			if j := r.IntN(len(parts) + 1); i < len(parts) && j < len(parts) {
				parts[i], parts[j] = parts[j], parts[i]
			}
		case 5:
			if i < len(parts) {
				if n, err := strconv.Atoi(parts[i]); err == nil {
					parts[i] = strconv.FormatUint(uint64(n)<<r.IntN(40), 10)
				}
			}
		}
		if len(parts) == 0 {
			return "actions="
		}
	}
	return strings.Join(parts, "")
}

// simple is a line that people might write.
func simple(r *rand.Rand) string {
	var conditions, actions []string
	for range r.IntN(5) {
		conditions = append(conditions, words[r.IntN(55)])
	}
	for range r.IntN(4) {
		actions = append(actions, words[56+r.IntN(50)])
	}
	return strings.Join(conditions, ",") + " actions=" + strings.Join(actions, ",")
}

// Whatever we read, ovs-ofctl reads, and it understands the same: we never mean more or less.
func TestOVSAgreesOnWhatWeAccept(t *testing.T) {
	if _, err := exec.LookPath("ovs-ofctl"); err != nil {
		t.Skip("no ovs-ofctl here")
	}
	g := openflowtest.New(9)
	r := rand.New(rand.NewPCG(10, 0))
	var flows []Flow
	var lines []string
	for len(lines) < 2000 {
		line := simple(r)
		if r.IntN(2) == 0 {
			line = g.Flow().String()
		}
		line = mutate(r, line)
		if f, err := ParseFlow(line); err == nil && f.Validate() == nil {
			flows, lines = append(flows, f), append(lines, line)
		}
	}
	checkAgainstOVS(t, flows, lines)
}

var badLine = regexp.MustCompile(`flows\.txt:(\d+): (.*)`)

func checkAgainstOVS(t *testing.T, flows []Flow, lines []string) {
	file := filepath.Join(t.TempDir(), "flows.txt")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	var stderr bytes.Buffer
	cmd := exec.Command("ovs-ofctl", "-O", "OpenFlow15", "parse-flows", file)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if bad := badLine.FindStringSubmatch(stderr.String()); err != nil && bad != nil {
		n, _ := strconv.Atoi(bad[1])
		t.Fatalf("OVS refuses %s\nours %v\n%s", lines[n-1], flows[n-1], bad[2])
	}
	require.NoError(t, err, "%s", stderr.String())
	i := 0
	for line := range strings.Lines(string(out)) {
		_, rest, ok := strings.Cut(line, "): ")
		if !ok || !strings.HasPrefix(line, "OFPT_FLOW_MOD") {
			continue
		}
		e, err := ParseFlowEntry(understood(strings.TrimPrefix(strings.TrimSpace(rest), "ADD")))
		require.NoError(t, err, "text %s\nours %v\nOVS  %s%s", lines[i], flows[i], rest, stderr.String())
		require.True(t, asStored(flows[i]).Equal(e.Flow), "text %s\nours %v\nOVS  %s", lines[i], flows[i], rest)
		i++
	}
	require.Equal(t, len(lines), i)
}
