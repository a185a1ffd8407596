package pipeline

import of "hpnn/datapath/openflow"

// The registers. Each means the same in every table; zero means "not set".
const (
	regSegment    = of.Reg0
	regSlot       = of.Reg1
	regMember     = of.Reg2
	regPool       = of.Reg3
	regMACs       = of.XXReg1 // reg4 to reg7
	regOrigin     = of.Reg8
	regOriginPort = of.Reg9
)

// A Register says what a register holds.
type Register struct {
	Field   of.Field
	Name    string
	Meaning string
}

// Registers lists the registers that the pipeline uses.
func Registers() []Register {
	return []Register{
		{regSegment, "segment", "the id of the segment that the frame came from"},
		{regSlot, "slot", "the slot that the hash chose; cleared once the member is known"},
		{regMember, "member", "the id of the member that owns the slot"},
		{regPool, "pool", "the id of the listener's pool"},
		{regMACs, "MACs", "both MAC addresses while the hash runs without them; then cleared"},
		{regOrigin, "origin", "the address of the member that answers, before its translation is undone"},
		{regOriginPort, "origin port", "the port that belongs to it"},
	}
}

// The parts of regMACs.
var (
	parkedSrc = of.Subfield{Field: regMACs, Offset: 0, Width: 48}
	parkedDst = of.Subfield{Field: regMACs, Offset: 48, Width: 48}
)

// The parts of a balanced connection's label: where its client was last heard. The answers go back there.
var (
	labelMAC  = of.Subfield{Field: of.CTLabel, Offset: 0, Width: 48}
	labelPort = of.Subfield{Field: of.CTLabel, Offset: 48, Width: 16}
)

// The zones of the connection tracker.
const (
	zoneBalanced uint16 = 1
	zoneDirect   uint16 = 2
	zoneHairpin  uint16 = 3
)

// A Zone says which connections a zone of the connection tracker holds.
type Zone struct {
	ID      uint16
	Name    string
	Meaning string
}

// Zones lists the zones that the pipeline uses.
func Zones() []Zone {
	return []Zone{
		{zoneBalanced, "balanced", "connections to a VIP. One zone for all, so that a connection is found whatever member its slot has now"},
		{zoneDirect, "direct", "connections to and from the service port of a member by its own address"},
		{zoneHairpin, "hairpin", "connections of a member to itself by a VIP: their second translation, of the source"},
	}
}

// Cookies of learned flows: the kind in the upper half, the segment's id in the lower one. A table counts the flows of one
// cookie against its limit, so no segment can use up the room of another. Rendered flows have cookie 0.
const (
	// CookieFDB is the kind of learned MAC addresses.
	CookieFDB uint64 = 0xfdb << 32
	// CookieAdjacency is the kind of learned neighbours: the MAC address and port that an IPv4 address was heard from.
	CookieAdjacency uint64 = 0xad1 << 32
	// CookieKind is the mask of a cookie's kind.
	CookieKind uint64 = 0xffffffff << 32
)

// Traffic renews what is learned, as each frame learns it again; without traffic it is forgotten. A table that is full learns
// nobody new, and keeps renewing those it knows.
const (
	learnedSeconds = 300  // hard: traffic renews it
	learnedLimit   = 4096 // flows of one cookie
)
