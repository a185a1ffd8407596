package simhost

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"hpnn/internal/packet"
)

// Codes of destination unreachable (RFC 792).
const (
	codeProtocol = 2
	codePort     = 3
)

// quoted is how many bytes of a packet an ICMP error repeats: what makes it 576 bytes at most
// (RFC 1812 4.3.2.3).
const quoted = 576 - 20 - 8

// receiveICMP answers pings, completes our own, and hands errors to whom they concern.
func (h *Host) receiveICMP(d *datagram) {
	b := d.payload
	switch {
	case len(b) < 8:
		h.counters.Malformed++
		return
	case packet.Checksum(b) != 0:
		h.counters.BadChecksum++
		return
	}
	switch b[0] {
	case packet.EchoRequest:
		h.echo(d)
	case packet.EchoReply:
		h.pong(d)
	case packet.Unreachable:
		h.failed(b[8:], unreachable(b[1]))
	case packet.TimeExceeded:
		h.failed(b[8:], ErrUnreachable)
	}
}

// unreachable is what the code of a destination unreachable means to a socket, as in Linux.
func unreachable(code uint8) error {
	if code == codePort || code == codeProtocol {
		return ErrRefused
	}
	return ErrUnreachable
}

// echo answers a ping (RFC 1122 3.2.2.6).
func (h *Host) echo(d *datagram) {
	b := d.payload
	h.send(d.src, packet.ICMP{
		Eth: h.ether(), IP: h.header(d.src), Type: packet.EchoReply,
		ID: packet.Word(b, 4), Seq: packet.Word(b, 6), Payload: b[8:],
	}.Bytes())
}

// sendUnreachable tells the sender that there is nobody here for its packet, unless that was
// itself an ICMP message or for all (RFC 1122 3.2.2).
func (h *Host) sendUnreachable(d *datagram, code uint8) {
	if d.frame[0]&1 != 0 {
		return
	}
	h.send(d.src, packet.ICMP{
		Eth: h.ether(), IP: h.header(d.src), Type: packet.Unreachable, Code: code,
		Payload: d.packet[:min(len(d.packet), quoted)],
	}.Bytes())
}

// failed tells the owner of a packet of this host, given from its IP header on and perhaps
// cut after 8 bytes of its payload, that it did not arrive.
func (h *Host) failed(ip []byte, err error) {
	if len(ip) < 20 {
		return
	}
	header := int(ip[0]&15) * 4
	if header < 20 || len(ip) < header+8 || netip.AddrFrom4([4]byte(ip[12:16])) != h.ip {
		return
	}
	b := ip[header:]
	key := connKey{ip: [4]byte(ip[16:20]), local: packet.Word(b, 0), port: packet.Word(b, 2)}
	switch ip[9] {
	case packet.ProtoTCP:
		if c := h.conns[key]; c != nil {
			c.unreachable(binary.BigEndian.Uint32(b[4:]), err)
		}
	case packet.ProtoUDP:
		if s := h.sockets[key.local]; s != nil {
			s.fail(netip.AddrPortFrom(netip.AddrFrom4(key.ip), key.port), err)
		}
	case packet.ProtoICMP:
		if p := h.pings[packet.Word(b, 4)]; b[0] == packet.EchoRequest && p != nil && p.dst.As4() == key.ip {
			p.finish(PingResult{Err: err})
		}
	}
}

// PingOptions describe an echo request. The zero value is a good one.
type PingOptions struct {
	Timeout time.Duration // 1 s if 0
	TTL     uint8         // 64 if 0
	Size    int           // bytes of payload; 56 if 0, as ping sends
}

const (
	pingTimeout = time.Second
	pingSize    = 56
	maxPings    = 1 << 15 // under way at once
)

// PingResult is the answer to an echo request.
type PingResult struct {
	RTT time.Duration
	TTL uint8 // of the reply as it arrived
	Err error // ErrTimeout, ErrUnreachable, ErrNoRoute, ErrKilled
}

// String is "reply ttl 64 in 400µs", or the error.
func (r PingResult) String() string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return fmt.Sprintf("reply ttl %d in %s", r.TTL, r.RTT)
}

// Ping is an echo request under way.
type Ping struct {
	host    *Host
	dst     netip.Addr
	id      uint16
	sent    time.Duration
	payload []byte
	timer   *timer
	done    func(PingResult)
	result  *PingResult
}

// Ping asks a host for an echo. The result goes to done, which may be nil.
func (h *Host) Ping(dst netip.Addr, o PingOptions, done func(PingResult)) *Ping {
	p := &Ping{host: h, dst: dst, done: done}
	if err := p.register(); err != nil {
		h.schedule(func() { p.finish(PingResult{Err: err}) })
		return p
	}
	p.payload = make([]byte, orInt(o.Size, pingSize))
	for i := range p.payload {
		p.payload[i] = byte(i)
	}
	p.timer = h.appTimer(func() { p.finish(PingResult{Err: ErrTimeout}) })
	h.schedule(func() { p.start(o) })
	return p
}

// register takes an identifier.
func (p *Ping) register() error {
	h := p.host
	if h.life.killed {
		return ErrKilled
	}
	if len(h.pings) > maxPings {
		return ErrNoPort
	}
	for h.pingID++; h.pings[h.pingID] != nil; h.pingID++ {
	}
	p.id = h.pingID
	h.pings[p.id] = p
	return nil
}

// Result is the answer; ok is false as long as there is none.
func (p *Ping) Result() (r PingResult, ok bool) {
	if p.result == nil {
		return r, false
	}
	return *p.result, true
}

func (p *Ping) start(o PingOptions) {
	h := p.host
	p.sent = h.world.now
	p.timer.reset(orTime(o.Timeout, pingTimeout))
	ip := h.header(p.dst)
	ip.TTL = o.TTL
	var err error = ErrNoRoute
	if p.dst.Is4() {
		err = h.send(p.dst, packet.ICMP{Eth: h.ether(), IP: ip, Type: packet.EchoRequest, ID: p.id, Seq: 1, Payload: p.payload}.Bytes())
	}
	if err != nil {
		p.finish(PingResult{Err: err})
	}
}

// pong takes a reply that is to one of our requests and repeats its payload.
func (h *Host) pong(d *datagram) {
	p := h.pings[packet.Word(d.payload, 4)]
	if p == nil || p.dst != d.src || packet.Word(d.payload, 6) != 1 || string(d.payload[8:]) != string(p.payload) {
		return
	}
	r := PingResult{RTT: h.since(p.sent), TTL: d.ttl}
	delete(h.pings, p.id)
	p.timer.stop()
	h.schedule(func() { p.finish(r) })
}

func (p *Ping) finish(r PingResult) {
	if p.result != nil {
		return
	}
	if p.timer != nil {
		p.timer.stop()
		delete(p.host.pings, p.id)
	}
	p.result = &r
	if p.done != nil {
		p.done(r)
	}
}
