package simhost

import (
	"fmt"
	"net/netip"

	"hpnn/internal/packet"
)

// Socket is a UDP port of a host.
type Socket struct {
	host    *Host
	port    uint16
	handler SocketHandler
}

// SocketHandler is told what arrives at a Socket. Either function may be nil.
type SocketHandler struct {
	Datagram func(s *Socket, from netip.AddrPort, data []byte) // data must not be changed
	Error    func(s *Socket, to netip.AddrPort, err error)     // an ICMP error about a datagram sent to to
}

// maxDatagram is what fits a frame of 1514 bytes: there are no fragments here.
const maxDatagram = 1472

// OpenUDP opens a UDP port, or a free one if port is 0. It fails with ErrInUse or ErrNoPort.
func (h *Host) OpenUDP(port uint16, handler SocketHandler) (*Socket, error) {
	if port == 0 {
		for port = firstEphemeral; h.sockets[port] != nil; port++ {
			if port == lastEphemeral {
				return nil, fmt.Errorf("open udp port: %w", ErrNoPort)
			}
		}
	}
	if h.sockets[port] != nil {
		return nil, fmt.Errorf("open udp port %d: %w", port, ErrInUse)
	}
	s := &Socket{host: h, port: port, handler: handler}
	h.sockets[port] = s
	return s, nil
}

// EchoUDP serves a UDP port by sending every datagram back. Revive starts it again.
func (h *Host) EchoUDP(port uint16) error {
	return h.serve(service{name: fmt.Sprintf("udp/%d", port), start: func() error {
		_, err := h.OpenUDP(port, SocketHandler{Datagram: func(s *Socket, from netip.AddrPort, data []byte) {
			s.Send(from, data)
		}})
		return err
	}})
}

// Local is the socket's address.
func (s *Socket) Local() netip.AddrPort { return netip.AddrPortFrom(s.host.ip, s.port) }

// Close frees the port.
func (s *Socket) Close() {
	if s.host.sockets[s.port] == s {
		delete(s.host.sockets, s.port)
	}
}

// Send sends a datagram of at most 1472 bytes. It fails with ErrNoRoute.
func (s *Socket) Send(to netip.AddrPort, data []byte) error {
	h := s.host
	if !to.Addr().Is4() || len(data) > maxDatagram {
		return fmt.Errorf("send %d bytes to %s: give an IPv4 address and at most %d bytes", len(data), to, maxDatagram)
	}
	return h.send(to.Addr(), packet.UDP{
		Eth: h.ether(), IP: h.header(to.Addr()), SrcPort: s.port, DstPort: to.Port(), Payload: data,
	}.Bytes())
}

// receiveUDP hands a datagram to its socket (RFC 768).
func (h *Host) receiveUDP(d *datagram) {
	b := d.payload
	if len(b) < 8 || int(packet.Word(b, 4)) < 8 || int(packet.Word(b, 4)) > len(b) {
		h.counters.Malformed++
		return
	}
	d.payload = b[:packet.Word(b, 4)]
	if packet.Word(b, 6) != 0 && !d.intact(packet.ProtoUDP) {
		h.counters.BadChecksum++
		return
	}
	s := h.sockets[packet.Word(b, 2)]
	if s == nil {
		h.sendUnreachable(d, codePort)
		return
	}
	from, data := netip.AddrPortFrom(d.src, packet.Word(b, 0)), d.payload[8:]
	if s.handler.Datagram != nil {
		h.schedule(func() { s.handler.Datagram(s, from, data) })
	}
}

// fail tells the socket's owner that a datagram did not arrive.
func (s *Socket) fail(to netip.AddrPort, err error) {
	if s.handler.Error != nil {
		s.host.schedule(func() { s.handler.Error(s, to, err) })
	}
}
