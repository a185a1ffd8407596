package openflow

// Action is one thing a flow does with a frame (ovs-actions(7)). The set of actions is
// closed: the types of this package are all there are.
type Action interface {
	// String is the canonical ovs-ofctl text.
	String() string
	action()
	append(b []byte) []byte
}

// PortNo is an OpenFlow port number as OVS keeps it, 16 bits wide.
type PortNo uint16

// Reserved port numbers (ovs-fields(7), in_port).
const (
	PortMax        PortNo = 0xff00 // one more than the largest ordinary port number
	PortIn         PortNo = 0xfff8
	PortTable      PortNo = 0xfff9
	PortNormal     PortNo = 0xfffa
	PortFlood      PortNo = 0xfffb
	PortAll        PortNo = 0xfffc
	PortController PortNo = 0xfffd
	PortLocal      PortNo = 0xfffe
	PortNone       PortNo = 0xffff
)

// TableID is the number of a flow table, 0 to 254. CurrentTable stands for the table that
// holds the flow.
type TableID uint8

// CurrentTable, in a Resubmit, is the table being executed; in a delete, every table.
const CurrentTable TableID = 255

// Output sends the frame, as modified so far, to a port.
type Output struct{ Port PortNo }

// OutputField sends the frame to the port whose number Src holds.
type OutputField struct{ Src Subfield }

// Controller sends the frame to the controllers with connection id ID, at most MaxLen bytes of it.
type Controller struct {
	MaxLen uint16
	ID     uint16
	Reason PacketInReason
}

// PacketInReason is why a frame goes to a controller.
type PacketInReason uint8

// Possible PacketInReason values (OpenFlow 1.5, 7.4.1).
const (
	ReasonNoMatch PacketInReason = iota
	ReasonAction
	ReasonInvalidTTL
)

// Resubmit looks the frame up in Table, with InPort as its ingress port if that is not
// PortIn, executes what it finds and comes back.
type Resubmit struct {
	InPort PortNo // PortIn: the frame's own
	Table  TableID
}

// GotoTable continues in a later table. It is the last of a flow's actions.
type GotoTable struct{ Table TableID }

// SetField writes Value to the bits of Field under Mask. It stands for load, set_field,
// mod_dl_src and the like alike. On a frame without the field it does nothing.
type SetField struct {
	Field       Field
	Value, Mask Value
}

// Move copies the bits of Src to Dst, which is as wide.
type Move struct{ Src, Dst Subfield }

// Push saves Src on the frame's stack.
type Push struct{ Src Subfield }

// Pop takes the top of the frame's stack into Dst.
type Pop struct{ Dst Subfield }

// SetVLANVID sets the VLAN id, 0 to 4095, pushing a tag onto an untagged frame.
type SetVLANVID struct{ VID uint16 }

// SetVLANPCP sets the VLAN priority, 0 to 7, pushing a tag onto an untagged frame.
type SetVLANPCP struct{ PCP uint8 }

// PushVLAN pushes a tag with the given TPID, 0x8100 or 0x88a8.
type PushVLAN struct{ EthType uint16 }

// PopVLAN takes off the outermost VLAN tag, if there is one.
type PopVLAN struct{}

// DecTTL decrements the TTL. A frame whose TTL is 0 or 1 goes to the controllers with the
// given ids instead, and the rest of the current table's actions are skipped.
type DecTTL struct{ Controllers []uint16 } // empty: {0}

// Multipath writes a link number, chosen by a hash of the frame's current fields, to Dst.
type Multipath struct {
	Fields    HashFields
	Basis     uint16
	Algorithm HashAlgorithm
	Links     uint32 // 1 to 65536
	Arg       uint32
	Dst       Subfield
}

// HashFields says what a Multipath hashes.
type HashFields uint8

// Possible HashFields values.
const (
	HashEthSrc HashFields = iota
	HashSymmetricL4
	HashSymmetricL3L4
	HashSymmetricL3L4UDP
	HashNwSrc
	HashNwDst
	HashSymmetricL3
)

// HashAlgorithm says how a Multipath maps the hash to a link.
type HashAlgorithm uint8

// Possible HashAlgorithm values.
const (
	ModuloN HashAlgorithm = iota
	HashThreshold
	HRW
	IterHash
)

// CT sends the frame through the connection tracker.
type CT struct {
	Commit  bool
	Force   bool
	Recirc  bool     // continue, tracked, in Table
	Table   TableID  // meaningful if Recirc
	Zone    uint16   // meaningful if ZoneSrc is the zero Subfield
	ZoneSrc Subfield // 16 bits wide, or the zero Subfield
	NAT     *NAT     // nil: no translation
	ALG     ALG
	Exec    []Action // SetField and Move on ct_mark and ct_label only
}

// ALG is an application helper of the connection tracker, named by its TCP or UDP port.
type ALG uint16

// Possible ALG values.
const (
	ALGNone ALG = 0
	ALGFTP  ALG = 21
	ALGTFTP ALG = 69
)

// NAT is the translation of a CT. With NATExisting, an established connection's translation is
// applied and nothing else is said.
type NAT struct {
	Kind NATKind
	// Addr is the first and last address; both zero keeps the address. 32 bits for IPv4.
	Addr       [2]Value
	IPv6       bool
	Port       [2]uint16 // first and last port; both zero: any
	Persistent bool
	Hash       bool
	Random     bool
}

// NATKind says which end of a connection is translated.
type NATKind uint8

// Possible NATKind values.
const (
	NATExisting NATKind = iota
	NATSrc
	NATDst
)

// CTClear forgets what the connection tracker said about the frame.
type CTClear struct{}

// Learn adds or refreshes a flow made from the frame's fields.
type Learn struct {
	Table          TableID
	IdleTimeout    uint16 // seconds
	HardTimeout    uint16 // seconds
	FinIdleTimeout uint16 // seconds
	FinHardTimeout uint16 // seconds
	Priority       uint16
	Cookie         uint64
	SendFlowRem    bool
	DeleteLearned  bool
	Limit          uint32   // flows; 0: none
	ResultDst      Subfield // one bit, or the zero Subfield
	Specs          []LearnSpec
}

// LearnSpec is one match condition or action of a learned flow.
type LearnSpec interface {
	// String is the canonical ovs-ofctl text.
	String() string
	learnSpec()
	append(b []byte) []byte
}

// LearnMatchField matches Dst against the learning frame's Src.
type LearnMatchField struct{ Dst, Src Subfield }

// LearnMatchValue matches Dst against a constant.
type LearnMatchValue struct {
	Dst   Subfield
	Value Value
}

// LearnLoadField is an action that loads the learning frame's Src into Dst.
type LearnLoadField struct{ Src, Dst Subfield }

// LearnLoadValue is an action that loads a constant into Dst.
type LearnLoadValue struct {
	Value Value
	Dst   Subfield
}

// LearnOutput is an action that outputs to the port that the learning frame's Src holds.
type LearnOutput struct{ Src Subfield }

// WriteMetadata sets the bits of the metadata under Mask.
type WriteMetadata struct{ Value, Mask uint64 }

// WriteActions merges actions into the action set.
type WriteActions struct{ Actions []Action }

// ClearActions empties the action set.
type ClearActions struct{}

// Clone executes actions on a copy of the frame.
type Clone struct{ Actions []Action }

// CheckPacketLarger sets the one-bit Dst if the frame is longer than Length bytes.
type CheckPacketLarger struct {
	Length uint16
	Dst    Subfield
}

// FinTimeout lowers the flow's timeouts when it sees a TCP FIN or RST.
type FinTimeout struct{ Idle, Hard uint16 } // seconds

// Group sends the frame to a group.
type Group struct{ ID uint32 }

// Meter sends the frame through a meter.
type Meter struct{ ID uint32 }

// SetQueue, PopQueue and Enqueue choose a port's queue.
type SetQueue struct{ ID uint32 }

// PopQueue restores the queue that was in force before SetQueue.
type PopQueue struct{}

// Enqueue outputs to a queue of a port.
type Enqueue struct {
	Port  PortNo
	Queue uint32
}

// Conjunction is clause Clause of Clauses of the conjunctive match ID.
type Conjunction struct {
	ID      uint32
	Clause  uint8 // 1..Clauses
	Clauses uint8
}

// Note carries bytes that mean nothing to the switch.
type Note struct{ Data string }

// Exit ends the frame's processing.
type Exit struct{}

func (Output) action()            {}
func (OutputField) action()       {}
func (Controller) action()        {}
func (Resubmit) action()          {}
func (GotoTable) action()         {}
func (SetField) action()          {}
func (Move) action()              {}
func (Push) action()              {}
func (Pop) action()               {}
func (SetVLANVID) action()        {}
func (SetVLANPCP) action()        {}
func (PushVLAN) action()          {}
func (PopVLAN) action()           {}
func (DecTTL) action()            {}
func (Multipath) action()         {}
func (CT) action()                {}
func (CTClear) action()           {}
func (Learn) action()             {}
func (WriteMetadata) action()     {}
func (WriteActions) action()      {}
func (ClearActions) action()      {}
func (Clone) action()             {}
func (CheckPacketLarger) action() {}
func (FinTimeout) action()        {}
func (Group) action()             {}
func (Meter) action()             {}
func (SetQueue) action()          {}
func (PopQueue) action()          {}
func (Enqueue) action()           {}
func (Conjunction) action()       {}
func (Note) action()              {}
func (Exit) action()              {}

func (LearnMatchField) learnSpec() {}
func (LearnMatchValue) learnSpec() {}
func (LearnLoadField) learnSpec()  {}
func (LearnLoadValue) learnSpec()  {}
func (LearnOutput) learnSpec()     {}

// Set is a SetField of all of f.
func Set(f Field, v Value) SetField { return SetField{Field: f, Value: v, Mask: f.Mask()} }

// Load is a SetField of the bits of dst, whose lowest becomes v's lowest.
func Load(v Value, dst Subfield) SetField {
	return SetField{Field: dst.Field, Value: v.Shl(int(dst.Offset)), Mask: dst.Mask()}
}
