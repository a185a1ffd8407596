package netns

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/model"
)

func portNumber(n uint32) openflow.PortNo { return openflow.PortNo(n) }

// startBackends starts a web server on each machine that is a member, on all ports it serves.
func (b *Bed) startBackends() error {
	for _, p := range b.config.Topology.Pools {
		for _, member := range p.Members {
			m := b.at(member.Address)
			if !slices.Contains(m.serves, member.Port) {
				m.serves = append(m.serves, member.Port)
			}
			if path := healthPath(p.Health); path != "" && !slices.Contains(m.healthy, path) {
				m.healthy = append(m.healthy, path)
			}
		}
	}
	for _, m := range b.machines {
		if m.serves == nil {
			continue
		}
		if err := b.Revive(m); err != nil {
			return err
		}
	}
	return nil
}

// healthPath is the path of a monitor, if a backend does not know it by itself.
func healthPath(h model.HealthMonitor) string {
	path, _, _ := strings.Cut(h.Path, "?")
	if slices.Contains([]string{"", "/", "/healthz", "/slow"}, path) {
		return ""
	}
	return path
}

// Revive starts the backend of a machine that is a member.
func (b *Bed) Revive(m *Machine) (err error) {
	var addresses []string
	for _, port := range m.serves {
		addresses = append(addresses, fmt.Sprintf("%v:%d", m.Address.Addr(), port))
	}
	m.backend, err = m.space.start(b.dir, m.Name, filepath.Join(b.config.Programs, "backend"),
		"-name", m.Name, "-listen", strings.Join(addresses, ","), "-healthy", strings.Join(m.healthy, ","))
	return err
}
