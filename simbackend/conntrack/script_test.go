package conntrack_test

import (
	"fmt"
	"slices"
	"strings"

	"hpnn/internal/packet"
	"hpnn/simbackend/conntrack"
)

// step is one action of a script.
type step struct {
	clear bool // ct_clear
	here  bool // ct() without table=: the packet goes on in the same pass
	conntrack.Request
}

// script is what a frame goes through. The last step is a ct(table=), so that the state
// can be seen. A frame chooses its script by the last byte of its destination MAC.
type script []step

func (s step) String() string { return s.actions(0) }

func (s step) actions(table int) string {
	if s.clear {
		return "ct_clear"
	}
	args := []string{fmt.Sprintf("zone=%d", s.Zone)}
	if s.Commit {
		args = append(args, "commit")
	}
	if s.Force {
		args = append(args, "force")
	}
	if !s.here {
		args = append(args, fmt.Sprintf("table=%d", table))
	}
	if nat := s.NAT.String(); nat != "" {
		args = append(args, nat)
	}
	var exec []string
	if s.MarkMask != 0 {
		exec = append(exec, fmt.Sprintf("set_field:%#x/%#x->ct_mark", s.Mark&s.MarkMask, s.MarkMask))
	}
	if s.LabelMask != (conntrack.Label{}) {
		exec = append(exec, fmt.Sprintf("set_field:%s/%s->ct_label", s.Label, s.LabelMask))
	}
	if len(exec) > 0 {
		args = append(args, "exec("+strings.Join(exec, ",")+")")
	}
	return "ct(" + strings.Join(args, ",") + ")"
}

// exportTable turns what conntrack found into Ethernet addresses and sends a frame with
// state, zone and mark, one with the label, and, unless it is invalid, one with the
// original tuple.
const exportTable = 250

const exportFlows = `
table=250,priority=1,ip actions=move:NXM_NX_CT_STATE[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_ZONE[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_MARK[]->NXM_OF_ETH_DST[0..31],output:2,move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_SRC[],move:NXM_NX_CT_LABEL[48..95]->NXM_OF_ETH_DST[],output:2
table=250,priority=2,ip,ct_state=+trk-inv actions=move:NXM_NX_CT_STATE[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_ZONE[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_MARK[]->NXM_OF_ETH_DST[0..31],output:2,move:NXM_NX_CT_LABEL[0..47]->NXM_OF_ETH_SRC[],move:NXM_NX_CT_LABEL[48..95]->NXM_OF_ETH_DST[],output:2,move:NXM_NX_CT_NW_SRC[]->NXM_OF_ETH_SRC[0..31],move:NXM_NX_CT_TP_SRC[]->NXM_OF_ETH_SRC[32..47],move:NXM_NX_CT_NW_DST[]->NXM_OF_ETH_DST[0..31],move:NXM_NX_CT_TP_DST[]->NXM_OF_ETH_DST[32..47],output:2
`

// flows renders script k, with tables of its own from next on: a fragment that is let go on the way of
// another script finds no flow there.
func (s script) flows(k, next int) string {
	var b strings.Builder
	table := 0
	var actions []string
	for i, st := range s {
		target := next
		if i == len(s)-1 {
			target = exportTable
		}
		actions = append(actions, st.actions(target))
		if st.here || st.clear {
			continue
		}
		fmt.Fprintf(&b, "table=%d,priority=10,ip,dl_dst=0a:00:00:00:00:%02x actions=%s\n", table, k, strings.Join(actions, ","))
		table, next, actions = target, next+1, nil
	}
	return b.String()
}

// export is a frame the real switch must emit, and from which byte on it is certain.
type export struct {
	frame []byte
	from  int
	name  string
}

func (e export) matches(frame []byte) bool {
	return len(frame) == len(e.frame) && slices.Equal(frame[e.from:], e.frame[e.from:])
}

// exported is what the export table makes of a packet. Of a fragment that was let go
// untracked only the state is certain: OVS shows what its memory held before.
func exported(p *conntrack.Packet) (out []export) {
	m := p.Meta
	untracked := m.State&conntrack.StateTrk == 0
	var src, dst [6]byte
	emit := func(uncertain int) {
		e := export{frame: slices.Clone(p.Frame)}
		copy(e.frame, dst[:])
		copy(e.frame[6:], src[:])
		if untracked {
			e.from = uncertain
		}
		out = append(out, e)
	}
	put16(src[:], 0, m.Zone)
	src[5] = byte(m.State)
	copy(dst[:2], p.Frame)
	put16(dst[:], 2, uint16(m.Mark>>16))
	put16(dst[:], 4, uint16(m.Mark))
	emit(11)
	for i := range 6 {
		src[5-i] = byte(m.Label.Lo >> (8 * i))
		dst[5-i] = byte((m.Label.Lo>>48 | m.Label.Hi<<16) >> (8 * i))
	}
	emit(12)
	if untracked || m.State&conntrack.StateInv != 0 {
		return out
	}
	if m.State&(conntrack.StateNew|conntrack.StateEst|conntrack.StateRpl) != 0 { // else OVS does not move them
		if packet.Word(p.Frame, 20)&0x1fff == 0 { // a later fragment shows no ports, not even these
			put16(src[:], 0, m.Orig.SrcPort)
			put16(dst[:], 0, m.Orig.DstPort)
		} else {
			put16(src[:], 0, 0)
			put16(dst[:], 0, 0)
		}
		copy(src[2:], m.Orig.Src[:])
		copy(dst[2:], m.Orig.Dst[:])
	}
	emit(0)
	return out
}
