package ovsbackend_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/datapathtest"
	"hpnn/datapath/openflow"
	"hpnn/ovsbackend"
	"hpnn/testbed/dummy"
)

// names of the ports of a dummy switch, and its local port's.
var names = map[openflow.PortNo]string{1: "p1", 2: "p2", 3: "p3", openflow.PortLocal: dummy.Local}

// numbers are the reverse.
var numbers = map[string]openflow.PortNo{"p1": 1, "p2": 2, "p3": 3, dummy.Local: openflow.PortLocal}

// startSwitch starts a dummy switch with three ports.
func startSwitch(tb dummy.TB) *dummy.Switch {
	return dummy.ForTest(tb, dummy.Config{Ports: dummy.NumberedPorts(len(datapathtest.Ports))})
}

// config is that of a Bridge over a dummy switch.
func config(sw *dummy.Switch) ovsbackend.Config {
	return ovsbackend.Config{RunDir: sw.Dir(), Control: filepath.Join(sw.Dir(), "vswitchd.ctl"), Bridge: dummy.Local}
}

// open opens a Bridge that is closed with the test.
func open(t testing.TB, c ovsbackend.Config) *ovsbackend.Bridge {
	t.Helper()
	b, err := ovsbackend.Open(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestContract(t *testing.T) {
	datapathtest.Run(t, func(t *testing.T) datapathtest.Bed {
		sw := startSwitch(t)
		return bed(t, sw, open(t, config(sw)))
	})
}

// bed makes a bed of a Bridge and its switch.
func bed(t *testing.T, sw *dummy.Switch, b datapath.Bridge) datapathtest.Bed {
	return datapathtest.Bed{
		Bridge: b,
		Receive: func(in datapath.Injection) {
			require.NoError(t, sw.Receive(t.Context(), names[in.InPort], in.Frame))
		},
		Sent: func() (sent []datapath.Output) {
			outputs, err := sw.Outputs()
			require.NoError(t, err)
			for _, o := range outputs {
				sent = append(sent, datapath.Output{Port: numbers[o.Port], Frame: o.Frame})
			}
			return sent
		},
		Advance: func(d time.Duration) { require.NoError(t, sw.Warp(t.Context(), d)) },
	}
}
