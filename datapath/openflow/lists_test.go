package openflow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
	"hpnn/datapath/openflow/openflowtest"
)

// lineByLine reads the lines of a program each by itself.
func lineByLine(lines []string) (flows []Flow, faults SyntaxErrors) {
	for i, line := range lines {
		f, err := ParseFlow(line)
		if fault := (*SyntaxError)(nil); errors.As(err, &fault) {
			fault.Name, fault.Line = "f", i+1
			faults = append(faults, fault)
			continue
		}
		flows = append(flows, f)
	}
	return flows, faults
}

// TestFileMeansWhatItsLinesMean reads files whose lines have actions in common, in tables and with
// matches that forbid some of them.
func TestFileMeansWhatItsLinesMean(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := openflowtest.New(21)
	protocols := []string{"", "ip,", "ipv6,", "tcp,", "udp,", "arp,", "icmp6,", "icmp6,icmp_type=135,icmp_code=0,", "ip,nw_frag=later,", "dl_vlan=3,", "ip,ct_state=+inv,"}
	actions := []string{
		"drop", "dec_ttl,output:2", "goto_table:5", "set_field:80->tcp_dst,output:1", "mod_nw_dst:10.0.0.1,goto_table:9",
		"mod_vlan_vid:5,output:3", "pop_vlan,output:3", "mod_tp_src:5,output:1", "ct(commit,zone=1)", "set_field:fd00::1->ipv6_dst,output:IN_PORT",
		"set_field:fd00::1->nd_target,output:IN_PORT", "set_field:10.0.0.1->arp_tpa,output:2", "ct(commit,nat(dst=10.0.0.1:80)),output:4",
	}
	clean := 0
	for n := range 500 {
		var lines []string
		for i := range 1 + r.IntN(12) {
			line := fmt.Sprintf("table=%d,priority=%d,%sreg0=%d actions=%s", r.IntN(8), i, protocols[r.IntN(len(protocols))], r.IntN(3), actions[r.IntN(len(actions))])
			switch r.IntN(12) {
			case 0:
				line = mutate(r, line)
			case 1:
				line = g.Flow().String()
			}
			lines = append(lines, line)
		}
		flows, faults := lineByLine(lines)
		p, err := ParseProgram("f", strings.NewReader(strings.Join(lines, "\n")))
		if faults != nil {
			require.EqualError(t, err, faults.Error())
			continue
		}
		want, same := NewProgram(flows...)
		if same != nil { // two lines have one key
			require.Error(t, err)
			continue
		}
		clean++
		require.NoError(t, err, n)
		require.Equal(t, want.String(), p.String())
		for f := range p.All() {
			require.NoError(t, f.Validate())
		}
	}
	require.Positive(t, clean)
}

// TestDumpLetsPassWhatProgramsMayNot reads a dump's line, whose actions lack a prerequisite, before a line with the same actions.
func TestDumpLetsPassWhatProgramsMayNot(t *testing.T) {
	dump := "cookie=0x0, duration=1.0s, table=0, n_packets=0, n_bytes=0, priority=%d actions=dec_ttl,output:2\n"
	_, err := ParseProgram("f", strings.NewReader(fmt.Sprintf(dump+dump, 1, 2)))
	require.NoError(t, err)
	_, err = ParseProgram("f", strings.NewReader(fmt.Sprintf(dump, 1)+"priority=2 actions=dec_ttl,output:2"))
	require.ErrorContains(t, err, "f:2:20: \"dec_ttl\": needs ip or ipv6")
}

// TestNumbersAndAddresses holds what a match takes for a number or an address against the standard library.
func TestNumbersAndAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	digits := []string{"0", "1", "2", "5", "9", "00", "25", "255", "256", "300", "4294967295", "18446744073709551615", ".", ".", ".", "x", "0x", "f", "-", "+"}
	for range 50_000 {
		var s string
		for range 1 + r.IntN(7) {
			s += digits[r.IntN(len(digits))]
		}
		m, err := ParseMatch("ip,nw_src=" + s)
		addr, want := netip.ParseAddr(s)
		require.Equal(t, want == nil && addr.Is4(), err == nil, s)
		if err == nil {
			require.Equal(t, Addr(addr), m.Get(IPSrc).Value, s)
		}
		for f, bits := range map[Field]int{Reg0: 32, Metadata: 64, CTZone: 16} {
			m, err := ParseMatch(f.String() + "=" + s)
			n, want := strconv.ParseUint(strings.TrimPrefix(s, "0x"), map[bool]int{false: 10, true: 16}[strings.HasPrefix(s, "0x")], bits)
			octal := len(s) > 1 && s[0] == '0' && s[1] != 'x'
			require.Equal(t, want == nil && !octal, err == nil, "%v=%s", f, s)
			if err == nil {
				require.Equal(t, U64(n), m.Get(f).Value, s)
			}
		}
	}
}
