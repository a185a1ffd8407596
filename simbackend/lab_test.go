package simbackend_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/simbackend"
)

// captures is where the captures of real switches are, or skips the test.
func captures(t *testing.T, parts ...string) string {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../shared/pcaps"
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no captures here: %v", err)
	}
	return path
}

var labPorts = []simbackend.Port{
	{Number: 1, Name: "pub0"}, {Number: 4, Name: "hcif-p2"}, {Number: 5, Name: "hcif-p3"}, {Number: 10, Name: "be1"},
	{Number: 11, Name: "be3"}, {Number: 12, Name: "cli2"}, {Number: 20, Name: "be2"}, {Number: 21, Name: "be4"}, {Number: 22, Name: "cli3"},
}

func TestLabSmoke(t *testing.T) {
	dir := captures(t, "ovs-lab")
	text, err := os.Open(filepath.Join(dir, "flows.txt"))
	require.NoError(t, err)
	defer text.Close()
	program, err := openflow.ParseProgram("flows.txt", text)
	require.NoError(t, err)
	sw, err := simbackend.New(simbackend.Config{Ports: labPorts})
	require.NoError(t, err)
	require.NoError(t, sw.Commit(t.Context(), program.Bundle()))
	var readers []*pcap.Reader
	for _, p := range labPorts {
		r, err := pcap.Open(filepath.Join(dir, "in", p.Name+".pcap"))
		require.NoError(t, err)
		readers = append(readers, r)
	}
	got := map[openflow.PortNo][][]byte{}
	var start int64
	m := pcap.Merge(readers...)
	for {
		source, r, err := m.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if start == 0 {
			start = r.Time
		}
		sw.Advance(time.Duration(r.Time - start))
		sw.Receive(datapath.Injection{InPort: labPorts[source].Number, Frame: r.Data}, func(o datapath.Output) {
			got[o.Port] = append(got[o.Port], slices.Clone(o.Frame))
		})
	}
	for _, p := range labPorts {
		r, err := pcap.Open(filepath.Join(dir, "out", p.Name+".pcap"))
		require.NoError(t, err)
		want := map[string]int{}
		n := 0
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			want[string(rec.Data)]++
			n++
		}
		missing := n
		extra := 0
		for _, f := range got[p.Number] {
			if want[string(f)] > 0 {
				want[string(f)]--
				missing--
			} else {
				extra++
			}
		}
		fmt.Println(p.Name, "want", n, "got", len(got[p.Number]), "missing", missing, "extra", extra)
	}
}
