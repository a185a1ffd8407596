package bridgerpc_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/datapathtest"
	"hpnn/datapath/openflow"
	"hpnn/internal/bridgerpc"
	"hpnn/simbackend"
)

// newSwitch is what is served in these tests.
func newSwitch(t *testing.T) *simbackend.Switch {
	var ports []simbackend.Port
	for number, name := range datapathtest.Ports {
		ports = append(ports, simbackend.Port{Number: number, Name: name})
	}
	sw, err := simbackend.New(simbackend.Config{Ports: ports})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sw.Close()) })
	return sw
}

// serve serves a Bridge at a socket until stop is called, or the test ends.
func serve(t *testing.T, socket string, b datapath.Bridge) (stop func()) {
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bridgerpc.Serve(ctx, l, b) }()
	var stopped atomic.Bool
	stop = func() {
		if cancel(); !stopped.Swap(true) {
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)
	return stop
}

// use opens a client.
func use(t *testing.T, c bridgerpc.Config) *bridgerpc.Bridge {
	b, err := bridgerpc.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// socket is short: the kernel allows a hundred characters.
func socket(t *testing.T) string { return filepath.Join(t.TempDir(), "s") }

func TestContract(t *testing.T) {
	datapathtest.Run(t, func(t *testing.T) datapathtest.Bed {
		sw, at := newSwitch(t), socket(t)
		serve(t, at, sw)
		var sent []datapath.Output
		keep := func(o datapath.Output) {
			sent = append(sent, datapath.Output{Port: o.Port, Frame: slices.Clone(o.Frame)})
		}
		sw.OnOutput(keep)
		return datapathtest.Bed{
			Bridge:  use(t, bridgerpc.Config{Socket: at}),
			Receive: func(in datapath.Injection) { sw.Receive(in, keep) },
			Sent: func() []datapath.Output {
				defer func() { sent = nil }()
				return sent
			},
			Advance: func(d time.Duration) { sw.Advance(sw.Now() + d) },
		}
	})
}

// TestSwitchDies: the switch's process ends, and another takes its place.
func TestSwitchDies(t *testing.T) {
	at := socket(t)
	stop := serve(t, at, newSwitch(t))
	begun := 0
	b := use(t, bridgerpc.Config{Socket: at, Begin: func() error {
		if begun++; begun == 2 {
			return errors.New("not yet")
		}
		return nil
	}})
	require.Equal(t, datapath.Connected, (<-b.Events()).Kind)
	add, err := openflow.ParseFlowMod("flow add table=0,priority=1,actions=drop")
	require.NoError(t, err)
	require.NoError(t, b.Commit(t.Context(), openflow.Bundle{add}))

	stop()
	require.Equal(t, datapath.Disconnected, (<-b.Events()).Kind)
	_, err = b.Flows(t.Context())
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	require.ErrorIs(t, b.Commit(t.Context(), nil), datapath.ErrUnavailable)
	require.ErrorIs(t, b.Conntrack().Flush(t.Context(), datapath.ConnFilter{}), datapath.ErrUnavailable)

	serve(t, at, newSwitch(t))
	require.Equal(t, datapath.Connected, (<-b.Events()).Kind)
	require.Equal(t, 3, begun, "the second try failed")
	flows, err := b.Flows(t.Context())
	require.NoError(t, err)
	require.Empty(t, flows, "the other switch has none")
}

// TestOpenSaysWhatIsWrong: nobody is there, or what must be done before fails.
func TestOpenSaysWhatIsWrong(t *testing.T) {
	at := socket(t)
	_, err := bridgerpc.Open(t.Context(), bridgerpc.Config{Socket: at})
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	require.ErrorContains(t, err, at)

	serve(t, at, newSwitch(t))
	wrong := errors.New("no such device")
	_, err = bridgerpc.Open(t.Context(), bridgerpc.Config{Socket: at, Begin: func() error { return wrong }})
	require.ErrorIs(t, err, wrong)
}

// served is a Bridge that fails as it is told.
type served struct {
	*simbackend.Switch
	err error
}

func (s served) Commit(context.Context, openflow.Bundle) error { return s.err }

// TestFaultsKeepTheirMeaning: what callers branch on is the same at both ends.
func TestFaultsKeepTheirMeaning(t *testing.T) {
	bundle := openflow.Bundle{{Flow: openflow.Flow{Priority: 1}}, {Flow: openflow.Flow{Priority: 2}}}
	for name, c := range map[string]struct {
		err, is error
		index   int // of the modification that was refused; -2 if none was
	}{
		"unavailable":          {errors.Join(datapath.ErrUnavailable, errors.New("why")), datapath.ErrUnavailable, -2},
		"closed by the server": {datapath.ErrClosed, datapath.ErrUnavailable, -2},
		"refused":              {&datapath.CommitError{Index: 1, Err: errors.New("why")}, nil, 1},
		"refused as a whole":   {&datapath.CommitError{Index: -1, Err: errors.New("why")}, nil, -1},
		"not supported":        {&datapath.CommitError{Index: 0, Err: datapath.ErrNotSupported}, datapath.ErrNotSupported, 0},
	} {
		t.Run(name, func(t *testing.T) {
			at := socket(t)
			serve(t, at, served{newSwitch(t), c.err})
			err := use(t, bridgerpc.Config{Socket: at}).Commit(t.Context(), bundle)
			require.Error(t, err)
			require.NotErrorIs(t, err, datapath.ErrClosed)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			var refused *datapath.CommitError
			require.Equal(t, c.index > -2, errors.As(err, &refused), err)
			if refused != nil {
				require.Equal(t, c.index, refused.Index)
				require.Equal(t, c.index >= 0, refused.Mod.Flow.Priority == bundle[max(c.index, 0)].Flow.Priority)
			}
		})
	}
}

// TestClientsShareASwitch: each hears of its events, also of those before it came that still hold.
func TestClientsShareASwitch(t *testing.T) {
	sw, at := newSwitch(t), socket(t)
	serve(t, at, sw)
	first := use(t, bridgerpc.Config{Socket: at})
	second := use(t, bridgerpc.Config{Socket: at})
	add, err := openflow.ParseFlowMod("flow add table=0,priority=1,actions=CONTROLLER:65535")
	require.NoError(t, err)
	require.NoError(t, first.Commit(t.Context(), openflow.Bundle{add}))
	frame := make([]byte, 60)
	sw.Receive(datapath.Injection{InPort: 1, Frame: frame}, func(datapath.Output) {})
	for _, b := range []*bridgerpc.Bridge{first, second} {
		require.Equal(t, datapath.Connected, (<-b.Events()).Kind)
		e := <-b.Events()
		require.Equal(t, datapath.PacketIn, e.Kind)
		require.Equal(t, datapath.Injection{InPort: 1, Frame: frame}, e.Packet)
	}
}

// TestActionsThatChangeAFrame are understood for a frame that has what they change.
func TestActionsThatChangeAFrame(t *testing.T) {
	sw, at := newSwitch(t), socket(t)
	serve(t, at, sw)
	left := 0
	sw.OnOutput(func(datapath.Output) { left++ })
	b := use(t, bridgerpc.Config{Socket: at})
	ip := openflow.Match{}.With(openflow.EthType, openflow.U64(openflow.EthTypeIPv4))
	actions, err := openflow.ParseActions("set_field:10.0.0.9->ip_dst,output:2", ip)
	require.NoError(t, err)
	frame := make([]byte, 60)
	require.Error(t, b.PacketOut(t.Context(), datapath.Injection{InPort: 1, Frame: frame}, actions))
	frame[12], frame[14], frame[17], frame[22] = 8, 0x45, 46, 64
	require.NoError(t, b.PacketOut(t.Context(), datapath.Injection{InPort: 1, Frame: frame}, actions))
	require.Equal(t, 1, left)
}
