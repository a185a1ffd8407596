package health

import (
	"net/netip"

	"hpnn/model"
)

// An ID tells the members of all pools apart. A member of two pools has two, and is probed for each by its own monitor.
type ID struct {
	Pool string // the pool's name
	Key  string // the member's key, "address:port"; see [model.Member.Key]
}

// String returns "pool/address:port".
func (id ID) String() string { return id.Pool + "/" + id.Key }

// A Check is one member to watch and how: everything the runner has to know of it.
type Check struct {
	ID      ID
	Name    string // the member's name, for people
	Monitor model.HealthMonitor
	Target  Target
	Admin   model.AdminState
	Seed    Seed // what is known of a member the runner does not watch yet; of one it watches, it knows better
}

// Checks returns the check of every member of a valid topology, pool by pool in the order they are written. Probes leave
// from the probe address of the segment in which the member's frames leave the node.
func Checks(t model.Topology) []Check {
	var all []Check
	for _, p := range t.Pools {
		for _, m := range p.Members {
			all = append(all, Check{
				ID:      ID{p.Name, m.Key()},
				Name:    m.Name,
				Monitor: p.Health,
				Admin:   m.Admin,
				Target: Target{
					Address: netip.AddrPortFrom(m.Address, m.Port),
					Source:  sourceFor(t, m),
					Timeout: p.Health.Timeout,
				},
			})
		}
	}
	return all
}

func sourceFor(t model.Topology, m model.Member) netip.Addr {
	host, _ := t.NextHop(m.Address)
	if s, ok := t.Segment(host.Segment); ok && s.Probe != nil {
		return s.Probe.Address
	}
	return netip.Addr{}
}
