package openflow_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "hpnn/datapath/openflow"
)

// rules is a program of n flows like those of a load balancer: slots, routes and adjacencies.
func rules(tb testing.TB, n int) Program {
	var text strings.Builder
	for i := range n {
		id, a, b := strconv.Itoa(i), strconv.Itoa(i>>8&255), strconv.Itoa(i&255)
		switch i % 3 {
		case 0:
			text.WriteString("table=11, priority=100,reg1=" + id + ",reg3=0x1 actions=load:" + id + "->NXM_NX_REG2[],goto_table:12\n")
		case 1:
			text.WriteString("cookie=0x5, table=12, priority=200,tcp,reg2=0x1,nw_src=10." + a + "." + b + ".1,tp_dst=80 actions=mod_dl_dst:02:00:00:00:00:01,ct(commit,zone=10,nat(dst=10.20.0.2:8080)),dec_ttl,output:10\n")
		case 2:
			text.WriteString("table=20, priority=24,ip,nw_dst=10." + a + "." + b + ".0/24 actions=mod_dl_src:02:00:00:00:00:02,learn(table=21,hard_timeout=300,priority=90,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],output:NXM_OF_IN_PORT[]),goto_table:21\n")
		}
	}
	p, err := ParseProgram("rules", strings.NewReader(text.String()))
	require.NoError(tb, err)
	return p
}

func eachSize(b *testing.B, run func(*testing.B, int)) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { run(b, n) })
	}
}

func BenchmarkParseProgram(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		text := rules(b, n).String()
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseProgram("rules", strings.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFormatProgram(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		p := rules(b, n)
		b.ReportAllocs()
		for b.Loop() {
			_ = p.String()
		}
	})
}

func BenchmarkNewProgram(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		flows := slices.Collect(rules(b, n).All())
		slices.Reverse(flows)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewProgram(flows...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		want := rules(b, n)
		have := slices.Collect(rules(b, n).All())
		for i := range have {
			if i%100 == 0 {
				have[i].Actions = nil
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			if len(Diff(have, want)) != n/100 {
				b.Fatal("wrong number of changes")
			}
		}
	})
}
