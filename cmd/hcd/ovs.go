package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/ovsbackend"
)

// openOVS makes the bridge of the topology's node, or adopts it, and gives the node's kernel its probe
// addresses.
func openOVS(ctx context.Context, o options, t model.Topology, log *slog.Logger) (site, error) {
	c := ovsbackend.Config{RunDir: o.rundir, Bridge: t.Node.Bridge, DatapathType: o.datapath, Ports: ports(t), Changed: reporter(log)}
	b, err := ovsbackend.Open(ctx, c)
	if err != nil {
		return site{}, fmt.Errorf("open bridge %s: %w", t.Node.Bridge, err)
	}
	info := b.Info()
	log.Info("bridge is ready", "bridge", info.Bridge, "datapath", info.Datapath, "ovs", info.Version, "rundir", info.RunDir)
	return site{bridge: b}, nil
}

// reporter logs what becomes of the switch's ports and of the bridge's configuration.
func reporter(log *slog.Logger) func(ovsbackend.Info) {
	var known ovsbackend.Info
	return func(i ovsbackend.Info) {
		for _, port := range slices.Sorted(maps.Keys(i.PortProblems)) {
			if problem := i.PortProblems[port]; known.PortProblems[port] != problem {
				log.Warn("port cannot be used", "port", port, "problem", problem)
			}
		}
		for _, port := range slices.Sorted(maps.Keys(known.PortProblems)) {
			if _, still := i.PortProblems[port]; !still {
				log.Info("port can be used", "port", port)
			}
		}
		for _, p := range []struct{ was, is error }{{known.HostProblem, i.HostProblem}, {known.ConfigProblem, i.ConfigProblem}} {
			if p.is != nil && fmt.Sprint(p.is) != fmt.Sprint(p.was) {
				log.Error("bridge cannot be put in order", "bridge", i.Bridge, "err", p.is)
			}
		}
		known = i
	}
}

// ports are the bridge's ports: those of the topology, of which the probe ports belong to this host.
func ports(t model.Topology) []ovsbackend.PortConfig {
	internal := map[uint32]model.Segment{}
	for _, s := range t.Segments {
		if s.Probe != nil {
			internal[s.Probe.Port.Number] = s
		}
	}
	var all []ovsbackend.PortConfig
	for _, p := range t.Ports() {
		c := ovsbackend.PortConfig{Name: p.Name, Number: openflow.PortNo(p.Number)}
		if s, ok := internal[p.Number]; ok {
			c.Internal, c.MAC = true, packet.MAC(s.Probe.MAC)
			c.Address = netip.PrefixFrom(s.Probe.Address, s.Prefix.Bits())
			c.Neighbours, c.Routes = neighbours(t, s), routes(t, s)
		}
		all = append(all, c)
	}
	return all
}

// neighbours are the hosts of a segment: probes need not ask for their MAC addresses.
func neighbours(t model.Topology, s model.Segment) (all []ovsbackend.Neighbour) {
	for _, h := range t.Hosts {
		if h.Segment == s.Name {
			all = append(all, ovsbackend.Neighbour{Address: h.Address, MAC: packet.MAC(h.MAC)})
		}
	}
	return all
}

// routes lead to the members that are behind a host of the segment, so that probes find them.
func routes(t model.Topology, s model.Segment) (all []ovsbackend.Route) {
	for _, p := range t.Pools {
		for _, m := range p.Members {
			_, near := t.SegmentOf(m.Address)
			route, behind := t.RouteTo(m.Address)
			if !near && behind && s.Prefix.Contains(route.Via) && !slices.Contains(all, ovsbackend.Route{To: m.Address, Via: route.Via}) {
				all = append(all, ovsbackend.Route{To: m.Address, Via: route.Via})
			}
		}
	}
	return all
}
