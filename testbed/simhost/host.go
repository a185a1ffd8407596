package simhost

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	"hpnn/internal/packet"
)

// HostConfig describes a host with one network card.
type HostConfig struct {
	Name       string
	Port       uint32 // of the switch
	MAC        packet.MAC
	Address    netip.Prefix // IPv4, with the length of the segment's prefix: 10.20.0.2/24
	Gateway    netip.Addr   // default route, if valid
	Routes     []Route
	Neighbours []Neighbour // static ARP entries
	TCP        TCP
	Latency    time.Duration // of the link, one way; the world's if 0
	// Queue bounds the frames that wait in the card while the machine is paused; 256 if 0.
	// Those behind are lost.
	Queue int
}

const defaultQueue = 256

// check names what cannot work.
func (c HostConfig) check() error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("add host %q: "+format, append([]any{c.Name}, args...)...)
	}
	switch {
	case c.Name == "":
		return errors.New("add host: it has no name: give one")
	case !c.Address.IsValid() || !c.Address.Addr().Is4():
		return fault("address %s: give an IPv4 address with the prefix length of its segment", c.Address)
	case c.MAC == packet.MAC{} || c.MAC[0]&1 != 0:
		return fault("mac %s is not that of one station: give a unicast address", c.MAC)
	case c.Latency < 0:
		return fault("latency %s: give a time of 0 or more", c.Latency)
	case c.Gateway.IsValid() && !c.onLink(c.Gateway):
		return fault("gateway %s is not in %s", c.Gateway, c.Address.Masked())
	}
	for _, r := range c.Routes {
		if !r.Prefix.IsValid() || !r.Prefix.Addr().Is4() || !c.onLink(r.Via) {
			return fault("route %s: give an IPv4 prefix and a next hop in %s", r, c.Address.Masked())
		}
	}
	for _, n := range c.Neighbours {
		if !n.Address.Is4() {
			return fault("neighbour %s: give an IPv4 address", n.Address)
		}
	}
	return nil
}

func (c HostConfig) onLink(a netip.Addr) bool { return c.Address.Masked().Contains(a) }

// Host is a machine: a state machine driven by frames and timers.
type Host struct {
	world    *World
	config   HostConfig
	ip       netip.Addr
	seed     uint64 // of sequence numbers
	up, down *wire  // to the switch, from it
	loop     *wire  // lo
	counters Counters

	neighbours map[netip.Addr]*neighbour
	ipID       uint16

	conns     map[connKey]*Conn
	acceptors map[uint16]*Acceptor
	births    uint64 // of connections
	ephemeral uint16 // local port to try next
	sockets   map[uint16]*Socket
	pings     map[uint16]*Ping
	pingID    uint16
	idle      map[netip.AddrPort][]*Conn // kept-alive HTTP connections
	requests  map[*Request]struct{}
	services  []service
	heads     headReader

	life life
	// Bound once.
	heldMachine, heldApp func(*timer) bool
}

func newHost(w *World, c HostConfig) *Host {
	if c.Queue == 0 {
		c.Queue = defaultQueue
	}
	c.TCP = c.TCP.withDefaults()
	h := &Host{
		world:      w,
		config:     c,
		ip:         c.Address.Addr(),
		neighbours: map[netip.Addr]*neighbour{},
		conns:      map[connKey]*Conn{},
		acceptors:  map[uint16]*Acceptor{},
		ephemeral:  firstEphemeral,
		sockets:    map[uint16]*Socket{},
		pings:      map[uint16]*Ping{},
		idle:       map[netip.AddrPort][]*Conn{},
		requests:   map[*Request]struct{}{},
	}
	name := fnv.New64a()
	name.Write([]byte(c.Name))
	h.seed = mix(w.config.Seed ^ name.Sum64())
	h.up = newWire(h, "up", func(frame []byte) { w.enter(h, frame) })
	h.down = newWire(h, "down", h.Receive)
	h.loop = newWire(h, "lo", func(frame []byte) { h.network(frame, true) })
	h.loop.latency = 0
	h.heldMachine, h.heldApp = h.holdsMachine, h.holdsApp
	h.life.apps = timer{queue: &w.queue, fire: h.runApps, held: h.heldApp}
	for _, n := range c.Neighbours {
		h.neighbours[n.Address] = &neighbour{host: h, ip: n.Address, mac: n.MAC, state: permanent}
	}
	return h
}

// Name is the host's name.
func (h *Host) Name() string { return h.config.Name }

// Address is the host's IPv4 address.
func (h *Host) Address() netip.Addr { return h.ip }

// MAC is the Ethernet address of the host's card.
func (h *Host) MAC() packet.MAC { return h.config.MAC }

// Port is the port of the switch that the host is on.
func (h *Host) Port() uint32 { return h.config.Port }

// World is where the host lives.
func (h *Host) World() *World { return h.world }

// Counters are the host's counters so far.
func (h *Host) Counters() Counters { return h.counters }

// String is one line: name, addresses, port, condition, open ports, connections.
func (h *Host) String() string {
	return fmt.Sprintf("%s %s %s port %d %s%s, %d connections",
		h.config.Name, h.config.Address, h.config.MAC, h.config.Port, h.Condition(), h.openPorts(), len(h.conns))
}

// timer makes a timer of the host's kernel, which stands still while the machine does.
func (h *Host) timer(fire func()) *timer {
	return &timer{queue: &h.world.queue, fire: fire, held: h.heldMachine}
}

// appTimer makes a timer of a process of the host.
func (h *Host) appTimer(fire func()) *timer {
	return &timer{queue: &h.world.queue, fire: fire, held: h.heldApp}
}

// Transmit sends a frame as it is, even one with others' addresses in it. The frame must
// not be changed afterwards.
func (h *Host) Transmit(frame []byte) {
	h.counters.Out.count(frame)
	h.world.log(h, Sent, frame, "")
	h.up.send(frame)
}

// Receive takes a frame that arrives at the host's card now. The frame must not be changed
// afterwards.
func (h *Host) Receive(frame []byte) {
	if h.life.frozen(Machine) {
		h.enqueue(frame)
		return
	}
	h.counters.In.count(frame)
	h.world.log(h, Received, frame, "")
	h.ethernet(frame)
}

// ethernet takes a frame that is for some host.
func (h *Host) ethernet(frame []byte) {
	if len(frame) < 14 {
		h.counters.Malformed++
		return
	}
	if dst := packet.MAC(frame[:6]); dst != h.config.MAC && dst[0]&1 == 0 {
		h.counters.Foreign++
		return
	}
	switch packet.Word(frame, 12) {
	case packet.TypeARP:
		h.receiveARP(frame)
	case packet.TypeIPv4:
		h.network(frame, false)
	case packet.TypeVLAN, packet.TypeQinQ:
		h.counters.Malformed++
	}
}

// datagram is an IPv4 packet that was received whole.
type datagram struct {
	frame    []byte
	packet   []byte // from the IP header on
	src, dst netip.Addr
	ttl      uint8
	payload  []byte
}

// network takes a frame with an IPv4 packet.
func (h *Host) network(frame []byte, local bool) {
	d, ok := h.parseIP(frame)
	if !ok {
		return
	}
	switch {
	case d.dst != h.ip:
		h.counters.Foreign++
		return
	case d.src == h.ip && !local:
		h.counters.Martian++
		return
	}
	switch d.packet[9] {
	case packet.ProtoICMP:
		h.receiveICMP(&d)
	case packet.ProtoUDP:
		h.receiveUDP(&d)
	case packet.ProtoTCP:
		h.receiveTCP(&d)
	default:
		h.sendUnreachable(&d, codeProtocol)
	}
}

// parseIP checks the header and counts what does not hold (RFC 791).
func (h *Host) parseIP(frame []byte) (d datagram, ok bool) {
	b := frame[14:]
	if len(b) < 20 || b[0]>>4 != 4 {
		h.counters.Malformed++
		return d, false
	}
	header, total := int(b[0]&15)*4, int(packet.Word(b, 2))
	fragment := packet.Word(b, 6)&0x3fff != 0
	if header < 20 || total < header || total > len(b) || fragment {
		h.counters.Malformed++
		return d, false
	}
	if packet.Checksum(b[:header]) != 0 {
		h.counters.BadChecksum++
		return d, false
	}
	return datagram{
		frame:   frame,
		packet:  b[:total],
		src:     netip.AddrFrom4([4]byte(b[12:16])),
		dst:     netip.AddrFrom4([4]byte(b[16:20])),
		ttl:     b[8],
		payload: b[header:total],
	}, true
}

// intact reports whether the checksum over a transport segment and its pseudo-header is right.
func (d *datagram) intact(proto uint8) bool {
	sum := packet.PseudoSum(d.src.As4(), d.dst.As4(), proto, len(d.payload))
	return packet.Fold(packet.Sum(d.payload, sum)) == 0
}

// nextID is the identification of the host's next packet.
func (h *Host) nextID() uint16 {
	h.ipID++
	return h.ipID
}

// header is the IP header towards an address.
func (h *Host) header(dst netip.Addr) packet.IP {
	return packet.IP{Src: h.ip, Dst: dst, ID: h.nextID()}
}

// ether is the Ethernet header of what the host sends; the destination is filled in later.
func (h *Host) ether() packet.Ether { return packet.Ether{Src: h.config.MAC} }

// send routes a frame with an IP packet and fills in the next hop's MAC, when it is known.
func (h *Host) send(dst netip.Addr, frame []byte) error {
	if dst == h.ip {
		h.loop.send(frame)
		return nil
	}
	hop, ok := h.nextHop(dst)
	if !ok {
		h.counters.Unroutable++
		return ErrNoRoute
	}
	if hop == broadcastIP {
		copy(frame, packet.Broadcast[:])
		h.Transmit(frame)
		return nil
	}
	h.resolve(hop, frame)
	return nil
}

// since is how much time has passed since t.
func (h *Host) since(t time.Duration) time.Duration { return h.world.now - t }

// mix scrambles 64 bits: the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// isn is the initial sequence number of a connection (RFC 6528): a secret hash of its ends
// and a clock of 64 ns, as in Linux.
func (h *Host) isn(k connKey) uint32 {
	tuple := uint64(binary.BigEndian.Uint32(k.ip[:]))<<32 | uint64(k.port)<<16 | uint64(k.local)
	return uint32(mix(h.seed^tuple)) + uint32(h.world.now/64)
}
