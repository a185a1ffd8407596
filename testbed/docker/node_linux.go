package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hpnn/model"
)

// status is what hcd says of itself, as far as it is of interest here.
type status struct {
	Started time.Time `json:"started"`
	Control struct {
		InSync  bool   `json:"in_sync"`
		Failure string `json:"failure"`
		Commits int    `json:"commits"` // bundles that changed the switch
	} `json:"control"`
	Pools []pool `json:"pools"`
}

type pool struct {
	Name    string   `json:"name"`
	Live    int      `json:"live"`
	Digest  string   `json:"digest"`
	Moved   int      `json:"moved"`
	Foreign int      `json:"foreign"`
	Members []member `json:"members"`
}

type member struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Up      bool   `json:"up"`
	Admin   string `json:"admin"`
	// Evidence says how its state is known: assumed, adopted from the switch, or probed.
	Evidence string    `json:"evidence"`
	InPool   bool      `json:"in_pool"`
	Slots    int       `json:"slots"`
	Probes   int       `json:"probes"`
	Source   string    `json:"probe_source"`
	Since    time.Time `json:"since"` // it is up or down
}

// member is the place of a member in the pool's list, -1 if there is none.
func (p pool) member(name string) int {
	for i, m := range p.Members {
		if m.Name == name {
			return i
		}
	}
	return -1
}

// call calls hcd's API in the node's namespace and decodes the answer into v unless it is nil.
func (s *space) call(ctx context.Context, method, path string, v any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1:9111"+path, http.NoBody)
	if err != nil {
		return err
	}
	reply, err := s.client(10 * time.Second).Do(request)
	if err != nil {
		return fmt.Errorf("ask hcd: %w", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return fmt.Errorf("ask hcd: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("ask hcd: %s %s: %s: %s", method, path, reply.Status, body)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(body, v)
}

func (s *space) status(ctx context.Context) (st status, err error) {
	return st, s.call(ctx, http.MethodGet, "/status", &st)
}

// probed is the evidence of a member's state that is more than a guess.
const probed = "probed"

// missing says what a status lacks to be that of a stand that is up; nothing if it is.
func (st status) missing() string {
	var all []string
	if !st.Control.InSync {
		all = append(all, strings.TrimSuffix("the switch does not hold the rules yet: "+st.Control.Failure, ": "))
	}
	for _, p := range st.Pools {
		for _, m := range p.Members {
			who := fmt.Sprintf("member %s (%s) of pool %s", m.Name, m.Address, p.Name)
			switch {
			case !m.Up:
				all = append(all, fmt.Sprintf("%s is down after %d probes", who, m.Probes))
			case m.Evidence != probed:
				all = append(all, fmt.Sprintf("%s has no verdict after %d probes", who, m.Probes))
			}
		}
	}
	return strings.Join(all, "; ")
}

// Wait returns when hcd's rules are in the switch and every member is up. When the context ends first, the error says what
// is missing.
func Wait(ctx context.Context, t model.Topology) error {
	s := standOf(t)
	pids, err := s.pids(ctx)
	if err != nil {
		return err
	}
	node, err := enter(s.node, pids[s.node])
	if err != nil {
		return err
	}
	defer node.close()
	_, err = node.await(ctx, status.missing)
	return err
}

// await asks hcd until nothing is missing, and returns the status that lacked nothing.
func (s *space) await(ctx context.Context, missing func(status) string) (status, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := "hcd did not answer"
	for {
		st, err := s.status(ctx)
		if err == nil {
			if last = missing(st); last == "" {
				return st, nil
			}
		} else if ctx.Err() == nil {
			last = err.Error()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return status{}, fmt.Errorf("%s (docker logs %s says more)", last, s.name)
		}
	}
}
