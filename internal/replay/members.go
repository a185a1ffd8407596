package replay

import (
	"slices"
	"time"
)

// members counts what is translated to members and back.
type members struct {
	pools   map[end]int32 // of the VIPs; 0: no VIP, which is the pool of a node without listeners
	index   map[poolMember]int
	reports []MemberReport
	syns    recent
}

// poolMember is a member's identity: one service may be a member of several pools.
type poolMember struct {
	pool int32
	end  end
}

func newMembers(n Node) *members {
	m := &members{pools: map[end]int32{}, index: map[poolMember]int{}, reports: []MemberReport{}}
	numbers := map[string]int32{"": 0}
	number := func(pool string) int32 {
		if _, known := numbers[pool]; !known {
			numbers[pool] = int32(len(numbers))
		}
		return numbers[pool]
	}
	for _, each := range n.Members {
		if e, ok := endOf(each.Address); ok {
			m.index[poolMember{number(each.Pool), e}] = len(m.reports)
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
		if i, ok := m.index[poolMember{m.pools[in.dst], out.dst}]; ok {
			m.reports[i].To.add(size)
			if out.opens && m.syns.add(now, session{in.src, in.dst, in.seq}) {
				m.reports[i].Sessions++
			}
		}
	}
	if out.src != in.src {
		if i, ok := m.index[poolMember{m.pools[out.src], in.src}]; ok {
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
