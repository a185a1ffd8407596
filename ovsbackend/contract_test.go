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

func TestContract(t *testing.T) { testContract(t, ovsbackend.Binary) }

func TestContractInText(t *testing.T) {
	if testing.Short() {
		t.Skip("the connection is what has goroutines")
	}
	testContract(t, ovsbackend.Text)
}

func testContract(t *testing.T, w ovsbackend.Wording) {
	sw := startSwitch(t)
	c := config(sw)
	c.Wording = w
	datapathtest.Run(t, func(t *testing.T) datapathtest.Bed {
		require.NoError(t, sw.Reset(t.Context()))
		b, err := datapathtest.Fresh(t.Context(), open(t, c))
		require.NoError(t, err)
		return bed(t, sw, b)
	})
}

// wordings are the ways that flows go.
var wordings = map[string]ovsbackend.Wording{"binary": ovsbackend.Binary, "text": ovsbackend.Text}

// names are the names of a dummy switch's ports by number, numbers the reverse.
var (
	names   = map[openflow.PortNo]string{1: "p1", 2: "p2", 3: "p3", openflow.PortLocal: dummy.Local}
	numbers = map[string]openflow.PortNo{"p1": 1, "p2": 2, "p3": 3, dummy.Local: openflow.PortLocal}
)

// startSwitch starts a dummy switch with the ports that the contract wants.
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
