package openflow_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

func TestParseProgram(t *testing.T) {
	p, err := ParseProgram("flows.txt", strings.NewReader(`
# comment
table=1,priority=5,ip actions=output:2   # another

add table=0,arp actions=NORMAL
 cookie=0x7, duration=5.012s, table=0, n_packets=3, n_bytes=129, idle_age=5, priority=5,ip actions=mod_tp_dst:80,output:2
`))
	// A line of a dump may lack a prerequisite, but mod_tp_dst still has to say whose port it means.
	require.EqualError(t, err, `flows.txt:6:100: "mod_tp_dst:80": needs tcp, udp or sctp: add one of them to the match`)
	require.Zero(t, p)

	p, err = ParseProgram("flows.txt", strings.NewReader("table=1,priority=5,ip actions=output:2\r\nadd\ttable=0,arp actions=NORMAL\n"+
		" cookie=0x7, duration=5.012s, table=0, n_packets=3, n_bytes=129, idle_age=5, priority=5 actions=dec_ttl,output:2"))
	require.NoError(t, err)
	require.Equal(t, `table=0, priority=32768,arp actions=NORMAL
cookie=0x7, table=0, priority=5 actions=dec_ttl,output:2
table=1, priority=5,ip actions=output:2
`, p.String())
}

func TestParseProgramReportsEveryLine(t *testing.T) {
	_, err := ParseProgram("flows.txt", strings.NewReader(`table=1,priority=5,ip actions=output:2
ip,tp_dst=80 actions=drop
actions=multipath(symmetric_l4,0x10,modulo_n,1024,0,NXM_NX_REG1[])
delete table=3
  priority=5,table=1,ip actions=drop
table=2 actions=drop
`))
	require.EqualError(t, err, `flows.txt:2:4: "tp_dst=80": tp_dst needs a protocol: add one of tcp, udp, sctp, icmp, icmp6
flows.txt:3:32: "0x10": multipath basis must be decimal: write 16
flows.txt:4:1: "delete": a program holds flows, not changes: read it as a bundle
flows.txt:5:3: "priority=5,table=1,ip actions=drop": line 1 has the same table, priority and match: keep one`)
	var faults SyntaxErrors
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, 4)
	var first *SyntaxError
	require.ErrorAs(t, err, &first)
	require.Equal(t, 2, first.Line)
}

func TestReadersReportTheirSource(t *testing.T) {
	broken := errors.New("broken")
	_, err := ParseProgram("flows.txt", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "read flows.txt")
	_, err = ParseDump("dump", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	_, err = ParseBundle("bundle", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestParseDump(t *testing.T) {
	entries, err := ParseDump("dump", strings.NewReader(`NXST_FLOW reply (xid=0x4): flags=[more]
 cookie=0x1, duration=5.012s, table=0, n_packets=3, n_bytes=129, idle_timeout=10, hard_timeout=20, idle_age=5, hard_age=1, priority=5,ip actions=mod_nw_dst:10.0.0.1,resubmit(,1)
OFPST_FLOW reply (OF1.5) (xid=0x2):
 cookie=0x0, duration=7s, table=3, n_packets=0, n_bytes=0, importance=2, send_flow_rem reset_counts idle_age=7, tcp actions=set_field:3/0x7->nw_ttl,set_field:32/0xfc->nw_tos,mod_nw_ttl:64
 table=4, priority=1 actions=dec_ttl,strip_vlan
`))
	require.NoError(t, err)
	require.Len(t, entries, 3)
	require.Equal(t, "cookie=0x1, duration=5.012s, table=0, n_packets=3, n_bytes=129, idle_timeout=10, hard_timeout=20, idle_age=5, hard_age=1, "+
		"priority=5,ip actions=set_field:10.0.0.1->ip_dst,resubmit(,1)", entries[0].String())
	require.Equal(t, Stats{Packets: 3, Bytes: 129, Duration: 5012 * time.Millisecond, IdleAge: 5 * time.Second, HardAge: time.Second}, entries[0].Stats)
	require.Equal(t, "cookie=0x0, duration=7s, table=3, n_packets=0, n_bytes=0, importance=2, send_flow_rem reset_counts idle_age=7, "+
		"priority=32768,tcp actions=load:0x3->NXM_NX_IP_TTL[0..2],set_field:8->ip_dscp,set_field:64->nw_ttl", entries[1].String())
	require.Equal(t, 7*time.Second, entries[1].HardAge)
	require.Equal(t, "table=4, priority=1 actions=dec_ttl,pop_vlan", entries[2].Flow.String())
	require.Error(t, entries[2].Validate())
}

func TestParseDumpReportsEveryLine(t *testing.T) {
	_, err := ParseDump("dump", strings.NewReader("OFPST_FLOW reply (OF1.5) (xid=0x2):\n cookie=0x0, duration=7x, table=3 actions=drop\n cookie=0x0, tun_src=1.2.3.4 actions=drop\n"))
	require.EqualError(t, err, `dump:2:23: "7x": not a number: write a decimal number, or a hexadecimal one after 0x
dump:3:14: "tun_src": field is not supported`)
}

func TestParseBundle(t *testing.T) {
	b, err := ParseBundle("bundle", strings.NewReader(`# start anew
flow delete
flow table=1,priority=5,ip actions=output:2
flow add cookie=7,table=1,priority=6,ip actions=output:2
flow modify cookie=7/-1,table=1,ip actions=drop
flow modify_strict reset_counts,table=1,priority=5,ip actions=output:3
flow delete_strict table=1,priority=6,ip,out_port=2
flow delete cookie=0x10/0xf0,tcp
`))
	require.NoError(t, err)
	require.Equal(t, `flow delete
flow add table=1, priority=5,ip actions=output:2
flow add cookie=0x7, table=1, priority=6,ip actions=output:2
flow modify cookie=0x7/0xffffffffffffffff, table=1, ip actions=drop
flow modify_strict table=1, reset_counts priority=5,ip actions=output:3
flow delete_strict table=1, out_port=2, priority=6,ip
flow delete cookie=0x10/0xf0, tcp
`, b.String())
	for _, m := range b {
		require.NoError(t, m.Validate(), "%v", m)
	}
	again, err := ParseBundle("again", strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Equal(t, b, again)
}

func TestParseBundleRefuses(t *testing.T) {
	_, err := ParseBundle("bundle", strings.NewReader(`group add group_id=1,type=all
delete table=1
flow delete priority=5,ip
flow delete idle_timeout=5
flow delete ip actions=drop
flow delete cookie=5
flow delete cookie=5/0
flow delete cookie=5/2
flow delete out_port=ANY
flow delete out_port=0
flow add cookie=5/-1 actions=drop
flow add out_port=5 actions=drop
flow add ip
flow modify ip actions=drop
flow modify table=1,cookie=5 actions=drop
flow modify table=1,idle_timeout=5 actions=drop
flow modify table=1,send_flow_rem actions=drop
flow modify table=1,priority=5 actions=drop
flow delete out_group=1
flow
`))
	require.EqualError(t, err, `bundle:1:1: "group": not a change to flows: begin the line with flow
bundle:2:1: "delete": not a change to flows: begin the line with flow
bundle:3:13: "priority=5": priority does not go with delete: use the strict command
bundle:4:13: "idle_timeout=5": idle_timeout does not go with delete: remove it
bundle:5:24: "drop": a delete takes no actions: remove them
bundle:6:20: "5": a delete selects by cookie and mask: write cookie=5/-1
bundle:7:22: "0": selects every cookie: remove it
bundle:8:20: "5/2": cookie has bits outside its mask: clear them
bundle:9:22: "ANY": selects every port: remove it
bundle:10:22: "0": selecting by output to port 0 is not supported
bundle:11:17: "5/-1": an add takes no cookie mask: write cookie=5
bundle:12:10: "out_port=5": out_port does not go with add: remove it
bundle:13:10: "ip": actions are missing: add actions=drop
bundle:14:13: "ip actions=drop": a modify must say which table: in a bundle OVS would change table 0 only: add table=0
bundle:15:28: "5": a modify in a bundle does not change the cookie: use add, which keeps the counters, or select with cookie=5/-1
bundle:16:21: "idle_timeout=5": idle_timeout does not go with modify: use add, which keeps the counters
bundle:17:21: "send_flow_rem": send_flow_rem does not go with modify: use add, which keeps the counters
bundle:18:21: "priority=5": priority does not go with modify: use the strict command
bundle:19:23: "1": out_group is not supported
bundle:20:5: actions are missing: add actions=drop`)
}

func TestParseMatchAndActions(t *testing.T) {
	m, err := ParseMatch("in_port=pub0,tcp,nw_dst=10.0.0.1,tp_dst=80", WithPorts(map[string]PortNo{"pub0": 1}))
	require.NoError(t, err)
	require.Equal(t, "tcp,in_port=1,nw_dst=10.0.0.1,tp_dst=80", m.String())
	_, err = ParseMatch("priority=5,tcp")
	require.EqualError(t, err, `column 1: "priority": unknown field: see ovs-fields(7)`)

	actions, err := ParseActions("mod_tp_dst:8080,goto_table:0", m)
	require.NoError(t, err)
	require.Equal(t, "set_field:8080->tcp_dst,goto_table:0", FormatActions(actions))
	_, err = ParseActions("mod_tp_dst:8080", Match{})
	require.EqualError(t, err, `column 1: "mod_tp_dst:8080": needs tcp, udp or sctp: add one of them to the match`)
	actions, err = ParseActions("drop", m)
	require.NoError(t, err)
	require.Empty(t, actions)
}
