package simbackend_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pipeline"
	"hpnn/model"
	"hpnn/simbackend"
)

// nodeSwitch is a switch with the rules of an example.
func nodeSwitch(tb testing.TB, example string) (*simbackend.Switch, model.Topology) {
	topology, err := model.Load(filepath.Join("..", "examples", example))
	require.NoError(tb, err)
	program := pipeline.Render(topology, pipeline.Layout(topology, pipeline.State{}))
	return programmed(tb, portsOf(topology), program), topology
}

func portsOf(t model.Topology) (ports []simbackend.Port) {
	for _, p := range t.Ports() {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	return ports
}

// FuzzFrame sends any bytes through the node's whole pipeline, from every port: nothing panics, what
// comes out is a frame, and a second switch that was sent the same does the same.
func FuzzFrame(f *testing.F) {
	for _, frame := range mix(1) {
		f.Add(frame)
	}
	addCaptures(f)
	one, topology := nodeSwitch(f, "hpnn.yaml")
	two, _ := nodeSwitch(f, "hpnn.yaml")
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, p := range topology.Ports() {
			in := datapath.Injection{InPort: openflow.PortNo(p.Number), Frame: slices.Clone(frame)}
			require.Equal(t, outputs(one, in), outputs(two, in))
			require.Equal(t, frame, in.Frame, "the caller's bytes are the caller's")
		}
	})
}

func outputs(sw *simbackend.Switch, in datapath.Injection) (out []datapath.Output) {
	sw.Receive(in, func(o datapath.Output) {
		out = append(out, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
	})
	return out
}

// addCaptures adds the first frame of each public capture, where they are present.
func addCaptures(f *testing.F) {
	dir := os.Getenv("HPNN_CAPTURES")
	if dir == "" {
		dir = "../../shared/pcaps"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "public", "*.pcap"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && len(data) > 40 {
			f.Add(data[40:min(len(data), 40+1514)])
		}
	}
}
