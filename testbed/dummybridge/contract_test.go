package dummybridge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/datapathtest"
	"hpnn/testbed/dummy"
	"hpnn/testbed/dummybridge"
)

var ports = dummy.NumberedPorts(len(datapathtest.Ports))

func TestContract(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: ports})
	datapathtest.Run(t, func(t *testing.T) datapathtest.Bed {
		require.NoError(t, sw.Reset(t.Context()))
		b := open(t, sw)
		var sent []datapath.Output
		keep := func(o datapath.Output) {
			sent = append(sent, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
		}
		b.OnOutput(keep)
		fresh, err := datapathtest.Fresh(t.Context(), b)
		require.NoError(t, err)
		now := time.Duration(0)
		return datapathtest.Bed{
			Bridge:  fresh,
			Receive: func(in datapath.Injection) { b.Receive(in, keep) },
			Sent: func() []datapath.Output {
				defer func() { sent = nil }()
				return sent
			},
			Advance: func(d time.Duration) { now += d; b.Advance(now) },
		}
	})
}

// open takes a running switch for one test.
func open(t *testing.T, sw *dummy.Switch) *dummybridge.Switch {
	b, err := dummybridge.New(t.Context(), sw, ports)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}
