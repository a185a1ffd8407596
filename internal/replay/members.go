package replay

import (
	"net/netip"
	"slices"
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

// SentTo is the member that a frame was translated to on its way through the switch.
func (n Node) SentTo(in, out []byte) (Member, bool) {
	before, after := parse(in), parse(out)
	if !before.ends || !after.ends || before.dst == after.dst {
		return Member{}, false
	}
	return n.member(poolMember{n.Listeners[before.dst], after.dst})
}

// AnswerOf is the member that sent a frame whose source was translated on its way through the
// switch.
func (n Node) AnswerOf(in, out []byte) (Member, bool) {
	before, after := parse(in), parse(out)
	if !before.ends || !after.ends || before.src == after.src {
		return Member{}, false
	}
	return n.member(poolMember{n.Listeners[after.src], before.src})
}

func (n Node) member(m poolMember) (Member, bool) {
	i := slices.IndexFunc(n.Members, func(each Member) bool { return m == poolMember{each.Pool, each.Address} })
	if i < 0 {
		return Member{}, false
	}
	return n.Members[i], true
}
