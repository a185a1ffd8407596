package pipeline

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	of "hpnn/datapath/openflow"
	"hpnn/model"
	"hpnn/simbackend"
)

// sim is the switch in memory.
type sim struct {
	tb      testing.TB
	ctx     context.Context
	ports   map[string]of.PortNo
	names   map[of.PortNo]string
	sw      *simbackend.Switch
	outputs []sent
}

func openSim(tb testing.TB, t model.Topology) bed {
	s := &sim{tb: tb, ctx: context.Background(), ports: map[string]of.PortNo{}, names: map[of.PortNo]string{}}
	for _, p := range t.Ports() {
		s.ports[p.Name] = of.PortNo(p.Number)
		s.names[of.PortNo(p.Number)] = p.Name
	}
	s.Reset()
	return s
}

func (s *sim) Reset() {
	var config simbackend.Config
	for name, number := range s.ports {
		config.Ports = append(config.Ports, simbackend.Port{Number: number, Name: name})
	}
	sw, err := simbackend.New(config)
	require.NoError(s.tb, err)
	s.sw, s.outputs = sw, nil
}

func (s *sim) Install(p of.Program) {
	s.tb.Helper()
	all := of.FlowMod{Command: of.Delete, Flow: of.Flow{Table: of.CurrentTable}}
	require.NoError(s.tb, s.sw.Commit(s.ctx, append(of.Bundle{all}, p.Bundle()...)))
}

func (s *sim) Receive(port string, frames ...[]byte) {
	for _, f := range frames {
		s.sw.Receive(datapath.Injection{InPort: s.ports[port], Frame: f}, func(o datapath.Output) {
			s.outputs = append(s.outputs, sent{s.names[o.Port], append([]byte(nil), o.Frame...)})
		})
	}
}

func (s *sim) Outputs() []sent {
	all := s.outputs
	s.outputs = nil
	return all
}

func (s *sim) flows() []of.FlowEntry {
	s.tb.Helper()
	flows, err := s.sw.Flows(s.ctx)
	require.NoError(s.tb, err)
	return flows
}

func (s *sim) Drops() map[level]int {
	drops := map[level]int{}
	for _, f := range s.flows() {
		if len(f.Actions) == 0 && f.Packets > 0 {
			drops[levelOf(f.Flow)] += int(f.Packets)
		}
	}
	return drops
}

func (s *sim) Learned(table of.TableID) int {
	n := 0
	for _, f := range s.flows() {
		if f.Table == table && f.Cookie != 0 {
			n++
		}
	}
	return n
}

func (s *sim) Connections() int {
	connections, err := s.sw.Connections(s.ctx, datapath.ConnFilter{})
	require.NoError(s.tb, err)
	return len(connections)
}
