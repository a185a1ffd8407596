package scenarios

import (
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

// address and endpoint are an IPv4 address, alone and with a port.
type address [4]byte
type endpoint struct {
	addr address
	port uint16
}

// conversation is a client's port and a member's, as the member sees it.
type conversation struct{ client, member endpoint }

// headers are those of an IPv4 packet that the rules look at.
type headers struct {
	ip       bool
	ttl      uint8
	tcp, syn bool // syn: without ACK
	src, dst endpoint
}

// look reads the headers of a frame. What is tagged, cut or a later fragment has none, or no ports.
func look(frame []byte) (h headers) {
	if len(frame) < 34 || packet.Word(frame, 12) != packet.TypeIPv4 {
		return h
	}
	b := frame[14:]
	h.ip, h.ttl = true, b[8]
	h.src.addr, h.dst.addr = address(b[12:16]), address(b[16:20])
	at := int(b[0]&15) * 4
	if packet.Word(b, 6)&0x1fff != 0 || len(b) < at+14 || b[9] != packet.ProtoTCP {
		return h
	}
	h.tcp = true
	h.src.port, h.dst.port = packet.Word(b, at), packet.Word(b, at+2)
	h.syn = packet.Flags(b[at+13])&(packet.SYN|packet.ACK) == packet.SYN
	return h
}

// passed is a frame that came into the switch, what left because of it, and why nothing did.
type passed struct {
	in      datapath.Injection
	out     []datapath.Output
	verdict simbackend.Verdict
}

// tap sees every frame that passes the switch.
func (t *story) tap(in datapath.Injection, out []datapath.Output, v simbackend.Verdict) {
	t.rules.frame(in, out)
	if t.sending != nil {
		t.sending(passed{in, out, v})
	}
}

// frame checks what left because of a frame; one that the node sent itself came in nowhere.
func (r *rules) frame(in datapath.Injection, out []datapath.Output) {
	if len(out) == 0 || r.broken != nil || r.damaged {
		return
	}
	from := look(in.Frame)
	right := packet.Verify(in.Frame) == nil
	for _, o := range out {
		to := look(o.Frame)
		if right {
			if err := packet.Verify(o.Frame); err != nil {
				r.blame(Checksums, in, o, err.Error())
			}
		}
		if from.ip && to.ip {
			r.hops(in, o, from, to)
		}
		if from.tcp && to.tcp {
			r.balance(in, o, from, to)
		}
		if to.ip && r.vips[to.dst.addr] && r.vips[from.dst.addr] {
			r.blame(Translated, in, o, "it is still addressed to the VIP")
		}
	}
}

func (r *rules) hops(in datapath.Injection, o datapath.Output, from, to headers) {
	if to.ttl+1 < from.ttl || to.ttl == 0 && from.ttl > 0 {
		r.blame(OneHop, in, o, fmt.Sprintf("its TTL fell from %d to %d", from.ttl, to.ttl))
	}
}

// balance follows the conversations of clients with members.
func (r *rules) balance(in datapath.Injection, o datapath.Output, from, to headers) {
	pool, service := r.services[from.dst]
	switch {
	case service && r.members[to.dst]:
		if r.dead[pool][to.dst] {
			r.blame(Living, in, o, "the member is down")
		}
		if from.syn {
			r.balanced[conversation{to.src, to.dst}] = true
		}
	case r.members[to.dst] && from.dst == to.dst && from.syn:
		r.balanced[conversation{to.src, to.dst}] = false
	case r.members[from.src] && from.src == to.src && r.balanced[conversation{from.dst, from.src}]:
		r.blame(Disguised, in, o, "the client called a VIP and would hear the member")
	}
}

func (r *rules) blame(rule Rule, in datapath.Injection, o datapath.Output, why string) {
	came := "that the node sent"
	if len(in.Frame) > 0 {
		came = fmt.Sprintf("%s that came in on port %v", packet.Summary(in.Frame), in.InPort)
	}
	r.breaks(rule, "%s left on port %v as %s: %s", came, openflow.PortNo(o.Port), packet.Summary(o.Frame), why)
}
