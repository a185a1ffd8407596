package scenarios

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"hpnn/internal/packet"
	"hpnn/testbed"
)

// numbers are what differs from stack to stack in a summary of a frame.
var numbers = regexp.MustCompile(` (seq|ack|win|id) \d+`)

// Frames explains the frames of send, spoof and trace.
const Frames = `A frame is one of

    tcp ADDRESS:PORT [flags=S]    flags of S, A, F, R and P; a SYN if none are given
    udp ADDRESS:PORT
    icmp ADDRESS                  an echo request
    unreachable ADDRESS about=ADDRESS:PORT>ADDRESS:PORT
                                  an ICMP error about a TCP segment
    arp who-has ADDRESS
    arp is-at ADDRESS             an answer: the sender has ADDRESS
    arp announce ADDRESS          the same, unasked and for all
    ether TYPE                    anything else, such as 0x88cc

It bears the addresses of the host that sends it and goes where that host would send it, unless it says otherwise:

    from=ADDRESS[:PORT]           the source; the port is 50000 if not given
    mac=MAC                       the source MAC; the name of a host stands for its own
    to=MAC                        the destination MAC; likewise, or gateway, or broadcast
    ttl=N  vlan=N  seq=N  ack=N  data=TEXT
    bad-checksum                  of TCP, UDP or ICMP
`

// spec is a frame as text, or many that differ in their source.
type spec struct {
	eth    packet.Ether
	ip     packet.IP
	ports  [2]uint16
	make   func(s *spec) []byte
	vary   netip.Prefix // of the source address, if valid; the MAC varies too
	broken bool         // a wrong checksum
	at     int          // of the checksum in the IP payload
}

// frame is the nth frame.
func (s *spec) frame(n int) []byte {
	f := *s
	if s.vary.IsValid() {
		f.eth.Src = packet.MAC{0x02, 0x66, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		f.ip.Src = nth(s.vary, n)
	}
	b := f.make(&f)
	if s.broken {
		b[34+len(f.eth.Tags)*4+s.at] ^= 0x55
	}
	return b
}

// nth is an address of a prefix, which is neither its first nor its last.
func nth(p netip.Prefix, n int) netip.Addr {
	size := max(1, 1<<(32-p.Bits())-2)
	a := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+1+uint32(n%size))
	return netip.AddrFrom4(a)
}

// sourcePort is the port of a frame that names none.
const sourcePort = 50000

// parseFrame reads a frame of a host. It takes all that is left of a.
func (t *story) parseFrame(host string, a *args) (*spec, error) {
	if a.err != nil {
		return nil, a.done()
	}
	m, err := t.machine(host)
	if err != nil {
		return nil, err
	}
	s := &spec{eth: packet.Ether{Src: m.MAC}, ip: packet.IP{Src: m.Address, TTL: uint8(a.number("ttl", 1, 255))}}
	s.ports[0] = sourcePort
	t.source(s, a)
	s.broken = a.has("bad-checksum")
	if _, ok := a.options["vlan"]; ok {
		s.eth.Tags = []packet.Tag{{ID: uint16(a.number("vlan", 0, 4095))}}
	}
	to, given := a.option("to")
	switch kind := a.word("FRAME"); kind {
	case "tcp", "udp", "icmp", "unreachable":
		t.parseIP(s, kind, a)
		s.eth.Dst = t.nextHop(m, s.ip.Dst)
	case "arp":
		t.parseARP(s, m, a)
	case "ether":
		etherType := hex(a, a.word("TYPE"))
		s.eth.Dst = packet.Broadcast
		s.make = func(s *spec) []byte { return s.eth.Frame(etherType, make([]byte, 46)) }
	default:
		a.fail("%q is no frame: tcp, udp, icmp, unreachable, arp and ether are", kind)
	}
	if given {
		s.eth.Dst = t.station(m, to, a)
	}
	return s, a.done()
}

func hex(a *args, word string) uint16 {
	n, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 16)
	if err != nil {
		a.fail("type %q: give a number such as 0x88cc", word)
	}
	return uint16(n)
}

// source reads from= and mac=.
func (t *story) source(s *spec, a *args) {
	if from, ok := a.option("from"); ok {
		addr, port, both := strings.Cut(from, ":")
		if both {
			s.ports[0] = uint16(a.parseInt("port", port, 0, 65535))
		}
		if p, err := netip.ParsePrefix(addr); err == nil {
			s.vary = p
		} else if ip, err := netip.ParseAddr(addr); err == nil && ip.Is4() {
			s.ip.Src = ip
		} else {
			a.fail("from %q: give an IPv4 address, perhaps with a port", from)
		}
	}
	if mac, ok := a.option("mac"); ok {
		s.eth.Src = t.station(testbed.Machine{}, mac, a)
	}
}

// station is the MAC that a word stands for.
func (t *story) station(from testbed.Machine, word string, a *args) packet.MAC {
	switch word {
	case "broadcast":
		return packet.Broadcast
	case "gateway":
		segment, _ := t.topology.SegmentOf(from.Address)
		return packet.MAC(segment.Gateway.MAC)
	}
	if m, err := t.machine(word); err == nil {
		return m.MAC
	}
	mac, err := packet.ParseMAC(word)
	if err != nil {
		a.fail("mac %q: give a MAC address, the name of a host, gateway or broadcast", word)
	}
	return mac
}

// nextHop is the station that a machine would send a packet to.
func (t *story) nextHop(from testbed.Machine, to netip.Addr) packet.MAC {
	segment, _ := t.topology.SegmentOf(from.Address)
	for _, m := range t.bed.Hosts().List() {
		if m.Address == to && segment.Prefix.Contains(to) {
			return m.MAC
		}
	}
	return packet.MAC(segment.Gateway.MAC)
}

// parseIP reads what is behind tcp, udp and icmp.
func (t *story) parseIP(s *spec, kind string, a *args) {
	addr, port, both := strings.Cut(a.word("ADDRESS"), ":")
	ip, err := netip.ParseAddr(addr)
	if a.err == nil && (err != nil || !ip.Is4() || both != (kind == "tcp" || kind == "udp")) {
		a.fail("%s %q: give an IPv4 address, with a port for tcp and udp", kind, addr)
	}
	if a.err != nil {
		return
	}
	s.ip.Dst = ip
	if both {
		s.ports[1] = uint16(a.parseInt("port", port, 0, 65535))
	}
	data, _ := a.option("data")
	switch kind {
	case "tcp":
		s.at = 16
		flags := packet.SYN
		if word, ok := a.option("flags"); ok {
			flags = parseFlags(a, word)
		}
		seq, ack := uint32(a.number("seq", 0, 1<<32-1)), uint32(a.number("ack", 0, 1<<32-1))
		s.make = func(s *spec) []byte {
			return packet.TCP{Eth: s.eth, IP: s.ip, SrcPort: s.ports[0], DstPort: s.ports[1], Seq: seq, Ack: ack, Flags: flags,
				Window: 64240, Payload: []byte(data)}.Bytes()
		}
	case "udp":
		s.at = 6
		s.make = func(s *spec) []byte {
			return packet.UDP{Eth: s.eth, IP: s.ip, SrcPort: s.ports[0], DstPort: s.ports[1], Payload: []byte(data)}.Bytes()
		}
	case "unreachable":
		s.at = 2
		about := quoted(a)
		s.make = func(s *spec) []byte {
			return packet.ICMP{Eth: s.eth, IP: s.ip, Type: packet.Unreachable, Code: 1, Payload: about}.Bytes()
		}
	default:
		s.at = 2
		s.make = func(s *spec) []byte {
			return packet.ICMP{Eth: s.eth, IP: s.ip, Type: packet.EchoRequest, ID: 1, Seq: 1, Payload: []byte(data)}.Bytes()
		}
	}
}

// quoted is the part of a TCP segment that an ICMP error repeats (RFC 792).
func quoted(a *args) []byte {
	word, _ := a.option("about")
	from, to, _ := strings.Cut(word, ">")
	src, err := netip.ParseAddrPort(from)
	dst, err2 := netip.ParseAddrPort(to)
	if err != nil || err2 != nil || !src.Addr().Is4() || !dst.Addr().Is4() {
		a.fail("about %q: give the ends of a segment, as 192.0.2.1:40000>192.0.2.2:80", word)
		return nil
	}
	return packet.TCP{
		IP: packet.IP{Src: src.Addr(), Dst: dst.Addr()}, SrcPort: src.Port(), DstPort: dst.Port(), Flags: packet.ACK,
	}.Bytes()[14 : 14+28]
}

// parseFlags reads flags such as SA.
func parseFlags(a *args, word string) (flags packet.Flags) {
	bits := map[rune]packet.Flags{'S': packet.SYN, 'A': packet.ACK, 'F': packet.FIN, 'R': packet.RST, 'P': packet.PSH}
	for _, r := range word {
		if bits[r] == 0 {
			a.fail("flags %q: use S, A, F, R and P", word)
		}
		flags |= bits[r]
	}
	return flags
}

// parseARP reads what is behind arp.
func (t *story) parseARP(s *spec, m testbed.Machine, a *args) {
	form, ip := a.word("who-has, is-at or announce"), a.address("ADDRESS")
	s.eth.Dst = packet.Broadcast
	switch form {
	case "who-has":
		s.make = func(s *spec) []byte {
			return packet.ARP{Eth: s.eth, Op: packet.OpRequest, SenderMAC: s.eth.Src, SenderIP: s.ip.Src, TargetIP: ip}.Bytes()
		}
	case "announce":
		s.make = func(s *spec) []byte {
			return packet.ARP{Eth: s.eth, Op: packet.OpRequest, SenderMAC: s.eth.Src, SenderIP: ip, TargetIP: ip}.Bytes()
		}
	case "is-at":
		segment, _ := t.topology.SegmentOf(m.Address)
		s.make = func(s *spec) []byte {
			return packet.ARP{Eth: s.eth, Op: packet.OpReply, SenderMAC: s.eth.Src, SenderIP: ip,
				TargetMAC: packet.MAC(segment.Gateway.MAC), TargetIP: segment.Gateway.Address}.Bytes()
		}
	default:
		a.fail("arp %q: who-has, is-at or announce", form)
	}
}
