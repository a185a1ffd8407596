package docker

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"hpnn/model"
)

// listener finds one of the first pool for a kind of segment, and a client there.
func (v *verifier) listener(k model.SegmentKind) (ask, bool) {
	for _, a := range v.asks() {
		if s, _ := v.topology.Segment(a.from.Segment); s.Kind == k {
			return a, true
		}
	}
	return ask{}, false
}

// asks are the listeners of the first pool that have a client.
func (v *verifier) asks() (all []ask) {
	for _, l := range v.topology.Listeners {
		for _, m := range v.machines {
			if l.Pool == v.pool.Name && m.Role == Client && slices.Contains(l.Segments, m.Segment) {
				all = append(all, ask{l, m, "http://" + netip.AddrPortFrom(l.VIP, l.Port).String() + "/"})
				break
			}
		}
	}
	return all
}

const requests = 200 // of a check; the fewest answers of one of four members are well above the limit below

// listeners asks each of them, and reads the TTL of the answers.
func (v *verifier) listeners(ctx context.Context) {
	for _, a := range v.asks() {
		var l load
		var openings []opening
		var err error
		measured := v.steady(ctx, complete, func() {
			var seen *capture
			if seen, err = v.spaces[a.from.Name].capture(); err != nil {
				return
			}
			l = v.ask(a, requests)
			openings = seen.end()
		})
		if measured && v.must(err, "capture at "+a.from.Name) {
			v.answers(a, l)
			v.hops(a, l, openings)
		}
	}
}

// ask sends requests to a listener.
func (v *verifier) ask(a ask, n int) load { return v.spaces[a.from.Name].ask(a.url, n) }

// answers checks who answered, and what the backends saw.
func (v *verifier) answers(a ask, l load) {
	counts, least := l.counts(), requests
	for _, m := range v.pool.Members {
		least = min(least, counts[m.Name])
	}
	limit := requests / len(v.pool.Members) / 2
	v.check(len(l.failed) == 0 && least >= limit, fmt.Sprintf("%d requests from %s to %s", requests, a.from.Name, a.url), l.text(), fmt.Sprintf("none failed, each ≥ %d", limit))
	clients, right := map[string]int{}, 0
	for _, x := range l.answers {
		clients[x.client]++
		if m, ok := v.machine(x.backend); ok && x.served == fmt.Sprintf("%v:%d", m.Address.Addr(), m.Serves[0]) {
			right++
		}
	}
	v.check(clients[a.from.Address.Addr().String()] == requests, "the backends saw", shares(clients), a.from.Address.Addr().String()+" only")
	v.check(right == requests, "served at the member's own address and port", fmt.Sprint(right), fmt.Sprint(requests))
}

// hops checks the TTL of the SYN+ACKs that the client got: a member of its own segment is no hop away, others are one.
func (v *verifier) hops(a ask, l load, openings []opening) {
	ttl := map[string]uint8{} // by the client's port
	for _, o := range openings {
		if o.answer && o.src == a.VIP.String() {
			ttl[o.port] = o.ttl
		}
	}
	seen, wrong := map[string]int{}, 0
	for _, x := range l.answers {
		m, _ := v.machine(x.backend)
		where, want := "routed", uint8(63)
		if m.Segment == a.from.Segment {
			where, want = "neighbour", 64
		}
		seen[fmt.Sprintf("%s TTL %d", where, ttl[x.port])]++
		if ttl[x.port] != want {
			wrong++
		}
	}
	v.check(wrong == 0, "TTL of the answers from "+a.VIP.String(), shares(seen), "neighbour 64, routed 63")
}
