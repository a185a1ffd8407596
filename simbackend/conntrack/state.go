package conntrack

// State is the ct_state of a packet: the bits of OVS's ct_state field, low byte.
type State uint8

// Possible bits of a State (ovs-fields(7), ct_state).
const (
	StateNew  State = 1 << iota // new: not yet seen in both directions
	StateEst                    // est: part of a connection that was answered
	StateRel                    // rel: an ICMP error about a known connection
	StateRpl                    // rpl: travels in the reply direction
	StateInv                    // inv: belongs to nothing and could start nothing
	StateTrk                    // trk: has been through ct()
	StateSNAT                   // snat: source address was translated
	StateDNAT                   // dnat: destination address was translated
)

const natted = StateSNAT | StateDNAT

var stateNames = [8]string{"new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"}

// String prints the bits as ovs-ofctl does, "est|rpl|trk"; the empty state is "0".
func (s State) String() string { return string(s.Append(nil)) }

// Append appends what String returns.
func (s State) Append(b []byte) []byte {
	if s == 0 {
		return append(b, '0')
	}
	start := len(b)
	for bit, name := range stateNames {
		if s&(1<<bit) == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, '|')
		}
		b = append(b, name...)
	}
	return b
}
