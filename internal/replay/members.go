package replay

import (
	"net/netip"
	"time"
)

// members counts what is translated to members and back.
type members struct {
	node    Node
	index   map[poolMember]int
	reports []MemberReport
	syns    recent
}

// poolMember is a member's identity: one service may be a member of several pools.
type poolMember struct {
	pool    string
	address netip.AddrPort
}

func newMembers(n Node) *members {
	m := &members{node: n, index: map[poolMember]int{}, reports: []MemberReport{}}
	for i, each := range n.Members {
		m.index[poolMember{each.Pool, each.Address}] = i
		m.reports = append(m.reports, MemberReport{Member: each})
	}
	return m
}

// pass counts a frame that came in as one thing and left as another.
func (m *members) pass(now time.Duration, in, out headers, size int) {
	if !in.ends || !out.ends {
		return
	}
	if out.dst != in.dst {
		if i, ok := m.index[poolMember{m.node.Listeners[in.dst], out.dst}]; ok {
			m.reports[i].To.add(size)
			if out.opens && m.syns.add(now, session{in.src, in.dst, in.seq}) {
				m.reports[i].Sessions++
			}
		}
	}
	if out.src != in.src {
		if i, ok := m.index[poolMember{m.node.Listeners[out.src], in.src}]; ok {
			m.reports[i].From.add(size)
		}
	}
}
