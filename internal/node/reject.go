package node

import (
	"context"
	"encoding/binary"
	"net/netip"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// rejectsPerSecond bounds the answers to those who call a pool that rejects: a flood is not to
// keep the daemon busy.
const rejectsPerSecond = 1000

// limiter lets n things pass in each second.
type limiter struct {
	second int64
	passed int
}

func (l *limiter) pass(now time.Time, n int) bool {
	if s := now.Unix(); s != l.second {
		l.second, l.passed = s, 0
	}
	l.passed++
	return l.passed <= n
}

// reject answers a TCP segment that a pool without live members sent to the controller with a
// RST from the VIP, as a host without a listener would (RFC 9293, 3.10.7.1).
func (n *Node) reject(e datapath.Event) {
	reset, ok := resetFor(e.Packet.Frame)
	n.mu.Lock()
	pass := n.rejects.pass(time.Now(), rejectsPerSecond)
	n.mu.Unlock()
	if !ok || !pass {
		return
	}
	in := datapath.Injection{InPort: e.Packet.InPort, Frame: reset}
	if err := n.config.Bridge.PacketOut(context.Background(), in, []openflow.Action{openflow.Output{Port: openflow.PortIn}}); err != nil {
		n.log.Warn("cannot answer a rejected connection", "error", err)
	}
}

// resetFor is the RST that answers a frame with a TCP segment; false if none is due.
func resetFor(frame []byte) ([]byte, bool) {
	const eth, ip = 14, 20
	if len(frame) < eth+ip || packet.Word(frame, 12) != packet.TypeIPv4 || frame[eth+9] != packet.ProtoTCP {
		return nil, false
	}
	at := eth + int(frame[eth]&15)*4
	total := int(packet.Word(frame, eth+2))
	if at < eth+ip || len(frame) < at+20 || total < at-eth+20 {
		return nil, false
	}
	h := frame[at:]
	offset, flags := int(h[12]>>4)*4, packet.Flags(h[13])
	if flags&packet.RST != 0 || offset < 20 || total-(at-eth) < offset {
		return nil, false
	}
	r := packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC(frame[0:6]), Dst: packet.MAC(frame[6:12])},
		IP:      packet.IP{Src: netip.AddrFrom4([4]byte(frame[eth+16:])), Dst: netip.AddrFrom4([4]byte(frame[eth+12:])), Dont: true},
		SrcPort: packet.Word(h, 2), DstPort: packet.Word(h, 0), Flags: packet.RST,
	}
	if flags&packet.ACK != 0 {
		r.Seq = binary.BigEndian.Uint32(h[8:])
		return r.Bytes(), true
	}
	length := uint32(total - (at - eth) - offset)
	if flags&packet.SYN != 0 {
		length++
	}
	if flags&packet.FIN != 0 {
		length++
	}
	r.Flags |= packet.ACK
	r.Ack = binary.BigEndian.Uint32(h[4:]) + length
	return r.Bytes(), true
}
