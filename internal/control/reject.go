package control

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
)

// Reject answers a packet that a pool without live members sent to the daemon: a TCP segment gets a
// RST from the VIP, other packets get nothing.
func Reject(ctx context.Context, b datapath.Bridge, in datapath.Injection) error {
	reset, ok := Reset(in.Frame)
	if !ok {
		return nil
	}
	in.Frame = reset
	if err := b.PacketOut(ctx, in, []openflow.Action{openflow.Output{Port: openflow.PortIn}}); err != nil {
		return fmt.Errorf("refuse connection: %w", err)
	}
	return nil
}

// Reset is the RST that answers a TCP segment, as a host without a listener would send it (RFC 9293,
// 3.10.7.1); false if none is due. Of the frame, the headers are enough.
func Reset(frame []byte) ([]byte, bool) {
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
