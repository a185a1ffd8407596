package simhost

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"hpnn/internal/packet"
)

// Neighbour is an entry of the ARP cache.
type Neighbour struct {
	Address netip.Addr
	MAC     packet.MAC // zero while unknown
	State   string     // of a listed entry, as `ip neigh` says it: REACHABLE, STALE, ...
}

// String is the notation of `ip neigh`.
func (n Neighbour) String() string {
	if (n.MAC == packet.MAC{}) {
		return fmt.Sprintf("%s %s", n.Address, n.State)
	}
	return fmt.Sprintf("%s lladdr %s %s", n.Address, n.MAC, n.State)
}

// Linux's defaults (net.ipv4.neigh.default, arp(7)).
const (
	probes        = 3                // ucast_solicit, mcast_solicit
	probeInterval = time.Second      // retrans_time
	reachableTime = 30 * time.Second // base_reachable_time
	delayTime     = 5 * time.Second  // delay_first_probe_time
	lockTime      = time.Second      // a MAC just learned is not replaced
	waitLimit     = 101              // unres_qlen: frames that wait for an answer
	cacheLimit    = 1024             // gc_thresh3
)

// neighbourState is how far an address is known (RFC 4861 7.3.2, as Linux applies it to ARP).
type neighbourState uint8

const (
	incomplete neighbourState = iota // asked, not answered
	reachable                        // or stale, if that was long ago
	delayed                          // stale and in use: asked unless confirmed soon
	probing                          // stale and asked
	permanent
)

// neighbour is an entry of the cache.
type neighbour struct {
	host      *Host
	ip        netip.Addr
	mac       packet.MAC
	state     neighbourState
	confirmed time.Duration // when it last was known to be right
	updated   time.Duration // when the MAC was learned
	used      time.Duration // when a frame last went there
	asked     int
	timer     *timer
	waiting   [][]byte
}

// word is the state in the words of `ip neigh`.
func (n *neighbour) word() string {
	switch n.state {
	case incomplete:
		return "INCOMPLETE"
	case delayed:
		return "DELAY"
	case probing:
		return "PROBE"
	case permanent:
		return "PERMANENT"
	}
	if n.fresh() {
		return "REACHABLE"
	}
	return "STALE"
}

func (n *neighbour) fresh() bool {
	return n.confirmed >= 0 && n.host.since(n.confirmed) <= reachableTime
}

// NeighbourCache lists the ARP cache by address.
func (h *Host) NeighbourCache() []Neighbour {
	list := make([]Neighbour, 0, len(h.neighbours))
	for _, n := range h.neighbours {
		list = append(list, Neighbour{Address: n.ip, MAC: n.mac, State: n.word()})
	}
	slices.SortFunc(list, func(a, b Neighbour) int { return cmp.Compare(a.Address.Compare(b.Address), 0) })
	return list
}

// Announce tells the segment the host's address and MAC: a gratuitous ARP request
// (RFC 5227 3).
func (h *Host) Announce() {
	h.Transmit(packet.ARPRequest(h.config.MAC, h.ip, h.ip).Bytes())
}

// resolve sends a frame to a neighbour, after asking for its MAC if need be.
func (h *Host) resolve(hop netip.Addr, frame []byte) {
	n := h.neighbours[hop]
	if n == nil {
		if n = h.addNeighbour(hop); n == nil {
			h.counters.Unroutable++
			return
		}
		n.wait(frame)
		n.ask()
		return
	}
	if n.state == incomplete {
		n.wait(frame)
		return
	}
	if n.state == reachable && !n.fresh() {
		n.state = delayed
		n.timer.reset(delayTime)
	}
	n.transmit(frame)
}

// addNeighbour makes an entry, or gives nil if the cache is full of questions.
func (h *Host) addNeighbour(ip netip.Addr) *neighbour {
	if len(h.neighbours) >= cacheLimit && !h.forgetNeighbour() {
		return nil
	}
	n := &neighbour{host: h, ip: ip, confirmed: -1, used: h.world.now}
	n.timer = h.timer(n.timeout)
	h.neighbours[ip] = n
	return n
}

// forgetNeighbour drops the answered entry that was not used for the longest time.
func (h *Host) forgetNeighbour() bool {
	var oldest *neighbour
	for _, n := range h.neighbours {
		if n.state == incomplete || n.state == permanent {
			continue
		}
		if oldest == nil || n.used < oldest.used || n.used == oldest.used && n.ip.Less(oldest.ip) {
			oldest = n
		}
	}
	if oldest == nil {
		return false
	}
	oldest.timer.stop()
	delete(h.neighbours, oldest.ip)
	return true
}

// transmit fills in the MAC.
func (n *neighbour) transmit(frame []byte) {
	n.used = n.host.world.now
	copy(frame, n.mac[:])
	n.host.Transmit(frame)
}

// wait keeps a frame until the MAC is known; the oldest go first.
func (n *neighbour) wait(frame []byte) {
	if len(n.waiting) == waitLimit {
		n.host.counters.Unroutable++
		n.waiting = n.waiting[1:]
	}
	n.waiting = append(n.waiting, frame)
}

// ask asks, all or the one that had the address last.
func (n *neighbour) ask() {
	n.asked++
	request := packet.ARPRequest(n.host.config.MAC, n.host.ip, n.ip)
	if n.state == probing {
		request.Eth.Dst = n.mac
	}
	n.host.Transmit(request.Bytes())
	n.timer.reset(probeInterval)
}

// timeout is for an answer or, if the entry is delayed, for a confirmation.
func (n *neighbour) timeout() {
	switch {
	case n.state == delayed:
		n.state, n.asked = probing, 0
		n.ask()
	case n.asked < probes:
		n.ask()
	default:
		n.fail()
	}
}

// fail gives up: what waited is lost, and those who sent it hear of it.
func (n *neighbour) fail() {
	delete(n.host.neighbours, n.ip)
	for _, frame := range n.waiting {
		n.host.counters.Unroutable++
		n.host.failed(frame[14:], ErrUnreachable)
	}
}

// learn notes a MAC; told says that the neighbour answered us.
func (n *neighbour) learn(mac packet.MAC, told bool) {
	if n.state == permanent {
		return
	}
	if n.mac != mac {
		n.updated = n.host.world.now
	}
	changed := n.mac != mac
	n.mac = mac
	if told {
		n.confirmed = n.host.world.now
	} else if changed {
		n.confirmed = -1
	}
	if told || changed || n.state == incomplete {
		n.state, n.asked = reachable, 0
		n.timer.stop()
	}
	waiting := n.waiting
	n.waiting = nil
	for _, frame := range waiting {
		n.transmit(frame)
	}
}

// confirm notes that the next hop towards dst is alive: a connection makes progress.
func (h *Host) confirm(dst netip.Addr) {
	hop, ok := h.nextHop(dst)
	if !ok {
		return
	}
	if n := h.neighbours[hop]; n != nil && n.state != incomplete && n.state != permanent {
		n.confirmed = h.world.now
		if n.state != reachable {
			n.state, n.asked = reachable, 0
			n.timer.stop()
		}
	}
}

// receiveARP answers requests for the host's address and learns from what concerns it
// (RFC 826; Linux's arp_process).
func (h *Host) receiveARP(frame []byte) {
	b := frame[14:]
	if len(b) < 28 || packet.Word(b, 0) != 1 || packet.Word(b, 2) != packet.TypeIPv4 || b[4] != 6 || b[5] != 4 {
		h.counters.Malformed++
		return
	}
	a := packet.ARP{
		Op:        packet.Word(b, 6),
		SenderMAC: packet.MAC(b[8:14]),
		SenderIP:  netip.AddrFrom4([4]byte(b[14:18])),
		TargetIP:  netip.AddrFrom4([4]byte(b[24:28])),
	}
	switch {
	case a.SenderIP == h.ip:
		h.counters.Martian++
		return
	case a.Op != packet.OpRequest && a.Op != packet.OpReply:
		return
	}
	forUs := a.TargetIP == h.ip
	if forUs && a.Op == packet.OpRequest {
		h.Transmit(a.Reply(h.config.MAC).Bytes())
	}
	h.learnARP(a, forUs, packet.MAC(frame[:6]) == h.config.MAC)
}

// learnARP makes an entry only for those who asked us, changes one for all, but not one
// just changed unless by an announcement.
func (h *Host) learnARP(a packet.ARP, forUs, unicast bool) {
	n := h.neighbours[a.SenderIP]
	if n == nil {
		if !forUs || a.Op != packet.OpRequest || a.SenderIP.IsUnspecified() {
			return
		}
		if n = h.addNeighbour(a.SenderIP); n == nil {
			return
		}
	}
	announced := a.SenderIP == a.TargetIP
	if n.state != incomplete && n.mac != a.SenderMAC && !announced && h.since(n.updated) < lockTime {
		return
	}
	n.learn(a.SenderMAC, a.Op == packet.OpReply && unicast && !announced)
}
