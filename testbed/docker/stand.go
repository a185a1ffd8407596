package docker

import (
	"context"
	"fmt"

	"hpnn/model"
)

// stand are the containers of a topology, by the names that they have.
type stand struct {
	topology model.Topology
	node     string // the node's container
	machines []Machine
}

// standOf is the one that make up starts.
func standOf(t model.Topology) stand { return stand{t, t.Node.Name, Site(t)} }

// containers are the names of all containers, the node's first.
func (s stand) containers() []string {
	all := []string{s.node}
	for _, m := range s.machines {
		all = append(all, m.Container)
	}
	return all
}

// pids are the first processes of all containers, which must run.
func (s stand) pids(ctx context.Context) (map[string]int, error) {
	out, err := engine(ctx, append([]string{"inspect", "--format", "{{.Name}} {{.State.Pid}}"}, s.containers()...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: run make up", err)
	}
	return readPIDs(out)
}
