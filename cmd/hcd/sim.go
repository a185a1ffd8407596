package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hpnn/model"
	"hpnn/testbed"
)

// trickle is how often each client of a simulated site calls.
const trickle = 200 * time.Millisecond

// openSim builds the topology's site in memory: its hosts live, and clients call its listeners.
func openSim(t model.Topology) (site, error) {
	live, err := testbed.NewLive(t)
	if err != nil {
		return site{}, err
	}
	for _, l := range t.Listeners {
		if client := clientOf(live, t, l); client != "" {
			if err := live.Trickle(client, fmt.Sprintf("http://%v:%d/", l.VIP, l.Port), trickle); err != nil {
				return site{}, err
			}
		}
	}
	return site{
		bridge: live.Switch, dial: live.Dial, run: live.Run, footer: func() string { return footer(live.Tally()) },
		routes: map[string]http.HandlerFunc{
			"GET /sim/hosts":   func(w http.ResponseWriter, _ *http.Request) { reply(w, live.Hosts()) },
			"GET /sim/tally":   func(w http.ResponseWriter, _ *http.Request) { reply(w, live.Tally()) },
			"POST /sim/{verb}": func(w http.ResponseWriter, r *http.Request) { act(w, r, live) },
		},
	}, nil
}

// clientOf is a host that calls a listener: one that is no member, in a segment the listener serves;
// a declared one if there is one.
func clientOf(live *testbed.Live, t model.Topology, l model.Listener) (found string) {
	for _, name := range live.Clients() {
		s, ok := t.SegmentOf(live.World.Host(name).Address())
		if !ok || !slices.Contains(l.Segments, s.Name) {
			continue
		}
		if _, declared := t.Host(name); declared {
			return name
		}
		found = cmp.Or(found, name)
	}
	return found
}

func act(w http.ResponseWriter, r *http.Request, live *testbed.Live) {
	if err := live.Act(r.PathValue("verb"), r.URL.Query().Get("host")); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	reply(w, live.Hosts())
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // nobody is left to tell
}

// footer is the clients' experience in two lines.
func footer(t testbed.Tally) string {
	var hosts []string
	for host, n := range t.ByHost {
		hosts = append(hosts, fmt.Sprintf("%s %d", host, n))
	}
	slices.Sort(hosts)
	text := fmt.Sprintf("clients: %d requests, %d failed; answered by %s\n", t.Asked, t.Failed, strings.Join(hosts, ", "))
	if t.Last != "" {
		text += "last: " + t.Last + "\n"
	}
	return text
}
