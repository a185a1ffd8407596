package replay

import (
	"slices"
	"time"
)

// members counts what is translated to members and back.
type members struct {
	pools   map[end]int // of the VIPs, by number; 0: no VIP, the pool of a node without listeners
	index   map[end][]membership
	reports []MemberReport
	syns    recent
}

// membership is a service as a member of a pool: one service may be a member of several.
type membership struct {
	pool   int
	report int // its place in members.reports
}

func newMembers(n Node) *members {
	m := &members{pools: map[end]int{}, index: map[end][]membership{}, reports: []MemberReport{}}
	numbers := map[string]int{"": 0}
	number := func(pool string) int {
		if _, known := numbers[pool]; !known {
			numbers[pool] = len(numbers)
		}
		return numbers[pool]
	}
	for _, each := range n.Members {
		if e, ok := endOf(each.Address); ok {
			m.index[e] = append(m.index[e], membership{number(each.Pool), len(m.reports)})
		}
		m.reports = append(m.reports, MemberReport{Member: each})
	}
	for vip, pool := range n.Listeners {
		if e, ok := endOf(vip); ok {
			m.pools[e] = number(pool)
		}
	}
	return m
}

// pass counts a frame that came in as one thing and left as another.
func (m *members) pass(now time.Duration, in, out *headers, size int) {
	if !in.ends || !out.ends {
		return
	}
	if out.dst != in.dst {
		if r := m.behind(in.dst, out.dst); r != nil {
			r.To.add(size)
			if out.opens && m.syns.add(now, session{in.src, in.dst, in.seq}) {
				r.Sessions++
			}
		}
	}
	if out.src != in.src {
		if r := m.behind(out.src, in.src); r != nil {
			r.From.add(size)
		}
	}
}

// behind is the member at an end that is behind a VIP, or nil.
func (m *members) behind(vip, at end) *MemberReport {
	list := m.index[at]
	if len(list) == 0 {
		return nil
	}
	pool := m.pools[vip]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].pool == pool {
			return &m.reports[list[i].report]
		}
	}
	return nil
}

// SentTo is the member that a frame was translated to on its way through the switch.
func (n Node) SentTo(in, out []byte) (Member, bool) {
	before, after := parse(in), parse(out)
	if !before.ends || !after.ends || before.dst == after.dst {
		return Member{}, false
	}
	return n.member(before.dst, after.dst)
}

// AnswerOf is the member that sent a frame whose source was translated on its way through the
// switch.
func (n Node) AnswerOf(in, out []byte) (Member, bool) {
	before, after := parse(in), parse(out)
	if !before.ends || !after.ends || before.src == after.src {
		return Member{}, false
	}
	return n.member(after.src, before.src)
}

// member is the member at an end that is behind a VIP.
func (n Node) member(vip, at end) (Member, bool) {
	pool, address := n.Listeners[vip.AddrPort()], at.AddrPort()
	i := slices.IndexFunc(n.Members, func(m Member) bool { return m.Pool == pool && m.Address == address })
	if i < 0 {
		return Member{}, false
	}
	return n.Members[i], true
}
