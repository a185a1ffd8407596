package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
	"hpnn/testbed/dummy"
)

// class is a kind of frame and the fields that actions may write to it.
type class struct {
	text   string
	match  of.Match
	fields []of.Field
}

func match(pairs ...uint64) (m of.Match) {
	for i := 0; i < len(pairs); i += 2 {
		m = m.With(of.Field(pairs[i]), of.U64(pairs[i+1]))
	}
	return m
}

// classes lists kinds of frames, more particular ones first.
func classes() []class {
	ip := []of.Field{of.IPDSCP, of.IPECN, of.IPTTL}
	v4 := append([]of.Field{of.IPSrc, of.IPDst, of.IPSrc, of.IPDst}, ip...)
	v6 := append([]of.Field{of.IPv6Src, of.IPv6Dst, of.IPv6Label}, ip...)
	arp := []of.Field{of.ARPOp, of.ARPSpa, of.ARPTpa, of.ARPSha, of.ARPTha}
	m4 := func(proto uint64) of.Match {
		return match(uint64(of.EthType), of.EthTypeIPv4, uint64(of.IPProto), proto)
	}
	m6 := func(proto uint64) of.Match {
		return match(uint64(of.EthType), of.EthTypeIPv6, uint64(of.IPProto), proto)
	}
	with := func(base []of.Field, more ...of.Field) []of.Field { return append(more, base...) }
	nd := func(kind uint64) of.Match {
		return m6(of.ProtoICMPv6).With(of.ICMPv6Type, of.U64(kind)).With(of.ICMPv6Code, of.U64(0))
	}
	return []class{
		{"tcp", m4(of.ProtoTCP), with(v4, of.TCPSrc, of.TCPDst)},
		{"udp", m4(of.ProtoUDP), with(v4, of.UDPSrc, of.UDPDst)},
		{"sctp", m4(of.ProtoSCTP), with(v4, of.SCTPSrc, of.SCTPDst)},
		{"icmp", m4(of.ProtoICMP), with(v4, of.ICMPType, of.ICMPCode)},
		{"ip", match(uint64(of.EthType), of.EthTypeIPv4), v4},
		{"tcp6", m6(of.ProtoTCP), with(v6, of.TCPSrc, of.TCPDst)},
		{"udp6", m6(of.ProtoUDP), with(v6, of.UDPSrc, of.UDPDst)},
		{"sctp6", m6(of.ProtoSCTP), with(v6, of.SCTPSrc, of.SCTPDst)},
		{"icmp6,icmp_type=135,icmp_code=0", nd(ndSolicit), with(v6, of.NDTarget, of.NDSll, of.NDTarget, of.NDSll, of.ICMPv6Code, of.ICMPv6Type)},
		{"icmp6,icmp_type=136,icmp_code=0", nd(ndAdvertise), with(v6, of.NDTarget, of.NDTll, of.NDTarget, of.NDTll, of.ICMPv6Code, of.ICMPv6Type)},
		{"icmp6", m6(of.ProtoICMPv6), with(v6, of.ICMPv6Type, of.ICMPv6Code)},
		{"ipv6", match(uint64(of.EthType), of.EthTypeIPv6), v6},
		{"arp", match(uint64(of.EthType), of.EthTypeARP), arp},
		{"rarp", match(uint64(of.EthType), of.EthTypeRARP), arp},
		{"", of.Match{}, nil},
	}
}

// step is an action: as ovs-ofctl reads it and as this package does it. out is a port to send to.
type step struct {
	text string
	do   func(k, mask *Key)
	out  int
}

// rule is a flow of random actions.
type rule struct {
	class
	tagged bool
	steps  []step
}

func (r rule) String() string {
	match := r.text
	if tci := "vlan_tci=0x1000/0x1000"; r.tagged {
		match = strings.TrimPrefix(match+","+tci, ",")
	}
	actions := make([]string, len(r.steps))
	for i, s := range r.steps {
		actions[i] = s.text
	}
	return fmt.Sprintf("%s actions=%s", match, strings.Join(actions, ","))
}

// rule makes a flow that ovs-ofctl accepts: it follows what the flow itself says of the VLAN tag, as
// ovs-ofctl does.
func (m maker) rule(c class, tagged bool) rule {
	r := rule{class: c, tagged: tagged}
	var known, mask Key
	if tagged {
		known.PushVLAN(of.EthTypeVLAN)
	}
	vlan := func(s step) {
		r.steps = append(r.steps, s)
		s.do(&known, &mask)
	}
	loaded := false
	for range 1 + m.IntN(5) {
		has := known.tagCount() > 0
		switch {
		case m.chance(15) && known.tagCount() < 2 && !loaded:
			vlan(m.push())
		case m.chance(20) && has && !loaded:
			vlan(step{text: "pop_vlan", do: func(k, _ *Key) { k.PopVLAN() }})
		case m.chance(15):
			known.setTCI(0) // ovs-ofctl takes the value for the whole, even of a part
			vlan(m.load(of.VLANTCI))
			loaded = true
		case m.chance(20) && has:
			vlan(m.load(pick(m, of.VLANVID, of.VLANPCP)))
		case m.chance(20) && len(r.steps) > 0:
			r.steps = append(r.steps, step{text: "output:2", out: 2})
		default:
			r.steps = append(r.steps, m.load(pick(m, append(c.fields, of.EthSrc, of.EthDst)...)))
		}
	}
	r.steps = append(r.steps, step{text: "output:3", out: 3})
	return r
}

func (m maker) push() step {
	tpid := pick[uint16](m, of.EthTypeVLAN, of.EthTypeQinQ)
	return step{text: fmt.Sprintf("push_vlan:%#x", tpid), do: func(k, _ *Key) { k.PushVLAN(tpid) }}
}

// load writes a random value to a random part, or to all, of a field.
func (m maker) load(f of.Field) step {
	s := of.Whole(f)
	if f == of.VLANVID {
		v := m.Uint64() & 0xfff
		set := NewStore(of.Set(f, of.U64(v)))
		return step{text: fmt.Sprintf("set_field:%d->vlan_vid", v|of.VLANPresent), do: func(k, _ *Key) {
			if Present(k, f) {
				set.Apply(k)
			}
		}}
	}
	if s.Width == 128 {
		s.Width, s.Offset = 64, pick[uint8](m, 0, 64)
	}
	if f.Width() > 8 && m.chance(30) && f != of.IPv6Label && f != of.ARPOp {
		s.Offset += uint8(m.IntN(int(s.Width)))
		s.Width = uint8(1 + m.IntN(min(64, f.Width()-int(s.Offset))))
	}
	v := of.U64(pick(m, 0, 1, m.Uint64(), ^uint64(0)) & of.Ones(int(s.Width)).Lo)
	if f == of.ARPOp {
		v.Lo &= 0xff
	}
	set := NewStore(of.Load(v, s))
	text := fmt.Sprintf("load:%#x->%s[%d..%d]", v.Lo, f.Header(), s.Offset, s.Offset+s.Width-1)
	return step{text: text, do: func(k, mask *Key) {
		if Present(k, f) {
			set.Apply(k)
			set.AddTo(mask)
		}
	}}
}

// run does what the rules do to a frame: the frames sent to port 2 and 3.
func run(t *testing.T, rules []rule, frame []byte) []dummy.Output {
	var want Key
	l, ok := Extract(frame, 1, &want)
	require.True(t, ok)
	base, p, out := want, &Packet{}, [4][]dummy.Output{}
	p.Load(frame, l)
	r, ok := lookup(rules, &want)
	if !ok {
		return nil
	}
	_, mask := Compile(r.match)
	for _, s := range r.steps {
		if s.do != nil {
			s.do(&want, &mask)
			continue
		}
		p.Rewrite(&base, &want, &mask)
		if n := len(p.Bytes()); n <= 1514 {
			out[s.out] = append(out[s.out], dummy.Output{Port: fmt.Sprintf("p%d", s.out), Frame: append([]byte(nil), p.Bytes()...)})
		}
	}
	return append(out[2], out[3]...)
}

func lookup(rules []rule, k *Key) (rule, bool) {
	defer k.ShowPorts(k.HidePorts())
	for _, r := range rules {
		value, mask := Compile(r.match)
		if r.tagged {
			value[wordL2] |= of.VLANPresent << shiftTCI
			mask[wordL2] |= of.VLANPresent << shiftTCI
		}
		hit := true
		for i := range k {
			hit = hit && k[i]&mask[i] == value[i]
		}
		if hit {
			return r, true
		}
	}
	return rule{}, false
}

func TestRewriteAsRealSwitch(t *testing.T) {
	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(3)})
	m := newMaker(seed())
	for range runs(t, 12) {
		rules, text := m.rules()
		require.NoError(t, sw.ReplaceFlows(t.Context(), text))
		var frames [][]byte
		var want []dummy.Output
		for range 60 {
			f := m.frame()
			if shortARP(f) {
				continue
			}
			want = append(want, run(t, rules, f)...)
			frames = append(frames, f)
		}
		require.NoError(t, sw.Receive(t.Context(), "p1", frames...))
		got, err := sw.Outputs()
		require.NoError(t, err)
		if !equalOutputs(byPort(want), got) {
			for _, f := range frames {
				check(t, sw, rules, f)
			}
			require.Fail(t, "outputs differ only together")
		}
	}
}

// shortARP reports whether a frame ends within an ARP message. The real switch then writes behind
// the frame's end, into whatever is there, and dies of it sooner or later.
func shortARP(f []byte) bool {
	var k Key
	l, ok := Extract(f, 1, &k)
	return ok && k.ethType() == of.EthTypeARP && l.Len-int(l.L3) < arpLen
}

// rules makes two rules for each class, for tagged frames and for all.
func (m maker) rules() ([]rule, string) {
	var rules []rule
	var text strings.Builder
	for _, c := range classes() {
		for _, tagged := range []bool{true, false} {
			r := m.rule(c, tagged)
			fmt.Fprintf(&text, "priority=%d,%v\n", 1000-len(rules), r)
			rules = append(rules, r)
		}
	}
	return rules, text.String()
}

func byPort(outputs []dummy.Output) (sorted []dummy.Output) {
	for _, port := range []string{"p1", "p2", "p3"} {
		for _, o := range outputs {
			if o.Port == port {
				sorted = append(sorted, o)
			}
		}
	}
	return sorted
}

func equalOutputs(a, b []dummy.Output) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Port != b[i].Port || string(a[i].Frame) != string(b[i].Frame) {
			return false
		}
	}
	return true
}

// check compares one frame and tells the whole story if it fails.
func check(t *testing.T, sw *dummy.Switch, rules []rule, frame []byte) {
	require.NoError(t, sw.Receive(t.Context(), "p1", frame))
	got, err := sw.Outputs()
	require.NoError(t, err)
	want := run(t, rules, frame)
	if equalOutputs(want, got) {
		return
	}
	var k Key
	Extract(frame, 1, &k)
	r, _ := lookup(rules, &k)
	t.Logf("frame %x\n%s\nflow %v", frame, Format(&k), r)
	for _, o := range got {
		t.Logf("OVS  %s %x", o.Port, o.Frame)
	}
	for _, o := range want {
		t.Logf("ours %s %x", o.Port, o.Frame)
	}
	t.FailNow()
}
