package simbackend_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/datapathtest"
	"hpnn/simbackend"
)

func TestContract(t *testing.T) {
	datapathtest.Run(t, func(t *testing.T) datapathtest.Bed {
		var ports []simbackend.Port
		for number, name := range datapathtest.Ports {
			ports = append(ports, simbackend.Port{Number: number, Name: name})
		}
		sw, err := simbackend.New(simbackend.Config{Ports: ports})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, sw.Close()) })
		var sent []datapath.Output
		keep := func(o datapath.Output) {
			sent = append(sent, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
		}
		sw.OnOutput(keep)
		return datapathtest.Bed{
			Bridge:  sw,
			Receive: func(in datapath.Injection) { sw.Receive(in, keep) },
			Sent: func() []datapath.Output {
				defer func() { sent = nil }()
				return sent
			},
			Advance: func(d time.Duration) { sw.Advance(sw.Now() + d) },
		}
	})
}
