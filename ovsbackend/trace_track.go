package ovsbackend

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// track sets in flow what the connection tracker says of the frame, and tells whether it knows its
// connection.
func (w *walk) track(ctx context.Context, p pending, flow *flowText) (known bool, err error) {
	if !w.known {
		if w.conns, err = w.bridge.connections(ctx, datapath.ConnFilter{}); err != nil {
			return false, err
		}
		w.known = true
	}
	before := flow.clone()
	for _, f := range p.section.initial {
		before.set(f.key, f.value)
	}
	zone, _ := strconv.ParseUint(orZero(flow.get("ct_zone")), 0, 16)
	for _, c := range w.conns {
		if c.Zone != uint16(zone) {
			continue
		}
		switch {
		case before.isOf(c.Orig, w.frame):
			meet(flow, c, p.call.text, false)
			return true, nil
		case before.isOf(c.Reply, w.frame):
			meet(flow, c, p.call.text, true)
			return true, nil
		}
	}
	return p.assumed(flow), nil
}

// committedNAT finds what a call of the tracker does to the first frame of a connection.
var committedNAT = regexp.MustCompile(`\bcommit\b.*\bnat\((src|dst)\b`)

// assumed completes the flow of a new connection whose translation ofproto/trace has simulated: it leaves out the
// state that the switch sets with it. It tells whether there was anything to complete.
func (p pending) assumed(flow *flowText) bool {
	found := committedNAT.FindStringSubmatch(p.call.text)
	if found == nil || len(p.section.initial) == 0 {
		return false
	}
	flow.set("ct_state", flow.get("ct_state")+"|"+found[1][:1]+"nat")
	return true
}

// isOf tells whether the flow is of a direction of a connection.
func (f *flowText) isOf(t datapath.Tuple, frame []byte) bool {
	src, dst := f.addresses()
	if f.proto() != t.Proto || src != t.Src || dst != t.Dst || f.get("nw_frag") == "later" {
		return false
	}
	switch t.Proto {
	case openflow.ProtoICMP, openflow.ProtoICMPv6:
		id, ok := echoID(frame)
		return f.get("icmp_type") == strconv.Itoa(int(t.Type)) && f.get("icmp_code") == strconv.Itoa(int(t.Code)) && (!ok || id == t.ID)
	case openflow.ProtoTCP, openflow.ProtoUDP, openflow.ProtoSCTP:
		return f.get("tp_src") == strconv.Itoa(int(t.SrcPort)) && f.get("tp_dst") == strconv.Itoa(int(t.DstPort))
	}
	return true
}

// meet sets what a frame of a known connection has after the tracker: state, mark, label, and the
// translation if the call asks for it.
func meet(flow *flowText, c datapath.Conn, call string, reply bool) {
	state := []string{"est"}
	switch {
	case reply:
		state = append(state, "rpl")
	case !replySeen(c):
		state[0] = "new"
	}
	state = append(state, "trk")
	if strings.Contains(call, "nat") {
		state = append(state, translate(flow, c, reply)...)
	}
	flow.set("ct_state", strings.Join(state, "|"))
	flow.set("ct_mark", fmt.Sprintf("%#x", written(call, "mark", openflow.U64(uint64(c.Mark))).Lo))
	flow.set("ct_label", formatLabel(written(call, "label", c.Label)))
	flow.setOriginal(c.Orig)
}

// firstWait is the longest that OVS waits for more of a connection that was answered, unless it is TCP;
// one that was not answered it keeps for twice as long.
const firstWait = 30 * time.Second

// replySeen tells whether the other side has answered. Of all but TCP the tracker does not say; what is
// left of the time tells.
func replySeen(c datapath.Conn) bool {
	if c.Orig.Proto == openflow.ProtoTCP {
		return c.State != "SYN_SENT" && c.State != "CLOSED"
	}
	return c.Timeout <= firstWait
}

// translate sets addresses and ports as the translation has them, and returns its state bits.
func translate(flow *flowText, c datapath.Conn, reply bool) (bits []string) {
	source, destination := c.Reply.Dst != c.Orig.Src || c.Reply.DstPort != c.Orig.SrcPort, c.Reply.Src != c.Orig.Dst || c.Reply.SrcPort != c.Orig.DstPort
	from, fromPort, to, toPort := c.Reply.Dst, c.Reply.DstPort, c.Reply.Src, c.Reply.SrcPort
	if reply {
		source, destination = destination, source
		from, fromPort, to, toPort = c.Orig.Dst, c.Orig.DstPort, c.Orig.Src, c.Orig.SrcPort
	}
	if source {
		bits = append(bits, "snat")
		flow.setEnd("src", from, fromPort)
	}
	if destination {
		bits = append(bits, "dnat")
		flow.setEnd("dst", to, toPort)
	}
	return bits
}

// translated is a frame after the call of the tracker that gave it the flow's addresses and ports.
func (f *flowText) translated(e edited, call string) edited {
	if !strings.Contains(call, "nat") || e.bytes == nil {
		return e
	}
	src, dst := f.addresses()
	e.setAddress(ipv4Src, src)
	e.setAddress(ipv4Dst, dst)
	if proto := f.proto(); (proto == openflow.ProtoTCP || proto == openflow.ProtoUDP) && f.get("tp_src") != "" {
		e.setPort(0, uint16(atoi(f.get("tp_src"))))
		e.setPort(2, uint16(atoi(f.get("tp_dst"))))
	}
	return e
}

// written is a mark or label after a ct() action that may write it, as "mark=0x5/0xff".
func written(call, name string, value openflow.Value) openflow.Value {
	found := regexp.MustCompile(`[(,]` + name + `=0x([0-9a-f]+)/0x([0-9a-f]+)`).FindStringSubmatch(call)
	if found == nil {
		return value
	}
	v, err1 := parseLabel("0x" + found[1])
	m, err2 := parseLabel("0x" + found[2])
	if err1 != nil || err2 != nil {
		return value
	}
	return value.AndNot(m).Or(v.And(m))
}

func formatLabel(v openflow.Value) string {
	if v.Hi == 0 {
		return fmt.Sprintf("%#x", v.Lo)
	}
	return fmt.Sprintf("%#x%016x", v.Hi, v.Lo)
}

// echoID is the id of an ICMP message in an IPv4 frame without tags; other frames are not told apart
// by it.
func echoID(frame []byte) (uint16, bool) {
	const ethernet, idOffset = 14, 4
	if len(frame) < ethernet+20 || frame[12] != 0x08 || frame[13] != 0x00 {
		return 0, false
	}
	at := ethernet + int(frame[ethernet]&0xf)*4 + idOffset
	if len(frame) < at+2 {
		return 0, false
	}
	return uint16(frame[at])<<8 | uint16(frame[at+1]), true
}

// addresses are the flow's IP addresses.
func (f *flowText) addresses() (src, dst netip.Addr) {
	parse := func(keys ...string) netip.Addr {
		for _, k := range keys {
			if a, err := netip.ParseAddr(f.get(k)); err == nil {
				return a
			}
		}
		return netip.Addr{}
	}
	return parse("nw_src", "ipv6_src"), parse("nw_dst", "ipv6_dst")
}
