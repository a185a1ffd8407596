package flow

import "math/bits"

// Words of a Key. Registers come first, then what else is not read from the frame, then
// the headers, so that Extract can clear and fill the two parts apart.
const (
	wordReg     = 0  // 8 words: reg0<<32 | reg1, ... so that xreg n is word n
	wordMeta    = 8  // metadata
	wordTun     = 9  // tun_id
	wordMark    = 10 // pkt_mark<<32 | ct_mark
	wordCTLabel = 11 // 2 words
	wordCT      = 13 // ct_state<<56 | ct_nw_proto<<48 | ct_zone<<32 | ct_tp_src<<16 | ct_tp_dst
	wordCTv4    = 14 // ct_nw_src<<32 | ct_nw_dst
	wordCTv6    = 15 // 4 words: source, destination

	wordL2    = 19 // in_port<<48 | dl_type<<32 | vlan_tci<<16 | nw_proto<<8 | nw_frag
	wordDst   = 20 // eth_dst
	wordSrc   = 21 // eth_src
	wordIPv4  = 22 // nw_src<<32 | nw_dst, or those of ARP
	wordIPv6  = 23 // 4 words: source, destination
	wordL4    = 27 // tp_src<<48 | tp_dst<<32 | nw_tos<<24 | nw_ttl<<16 | tcp_flags
	wordSHA   = 28 // arp_sha or nd_sll
	wordTHA   = 29 // arp_tha or nd_tll
	wordND    = 30 // 2 words: nd_target, or the MPLS label stack
	wordLabel = 32 // ipv6_label<<32 | what follows the ND header, or the IGMP group
	wordTags  = 33 // outer TPID<<48 | inner TPID<<16 | inner TCI

	// Words is the number of words of a Key.
	Words = 34

	firstHeader = wordL2
)

// Shifts within words.
const (
	shiftInPort = 48
	shiftType   = 32
	shiftTCI    = 16
	shiftProto  = 8

	shiftTpSrc = 48
	shiftTpDst = 32
	shiftTOS   = 24
	shiftTTL   = 16

	shiftOuterTPID = 48
)

// Key is everything the switch knows of a frame: every openflow.Field has its bits at a
// fixed place. Fields that no frame has together share them as in OVS: nw_src and arp_spa,
// nw_proto and arp_op, tp_src and icmp_type, arp_sha and nd_sll. Keys compare with ==.
//
// A mask is a Key too. A frame k satisfies a match (v, m) if k[i]&m[i] == v[i] for all i.
type Key [Words]uint64

// Ethernet types that only extraction speaks of.
const (
	ethTypeNone  = 0x05ff // what OVS says of an IEEE 802.3 frame without a type
	ethTypeMin   = 0x0600
	ethTypeMPLS  = 0x8847
	ethTypeMPLSm = 0x8848
)

// IP protocols that only extraction speaks of.
const (
	protoHopByHop = 0
	protoIGMP     = 2
	protoRouting  = 43
	protoFragment = 44
	protoAH       = 51
	protoDstOpts  = 60
)

func (k *Key) ethType() uint16 { return uint16(k[wordL2] >> shiftType) }
func (k *Key) tci() uint16     { return uint16(k[wordL2] >> shiftTCI) }
func (k *Key) proto() uint8    { return uint8(k[wordL2] >> shiftProto) }
func (k *Key) frag() uint8     { return uint8(k[wordL2]) }
func (k *Key) tpSrc() uint16   { return uint16(k[wordL4] >> shiftTpSrc) }
func (k *Key) tpDst() uint16   { return uint16(k[wordL4] >> shiftTpDst) }
func (k *Key) tos() uint8      { return uint8(k[wordL4] >> shiftTOS) }

// KindWord is the word of a Key that tells frames apart most: in_port, dl_type, vlan_tci, nw_proto
// and nw_frag.
const KindWord = wordL2

// TagWords is the set of words that hold VLAN tags.
const TagWords = 1<<wordL2 | 1<<wordTags

// Changed is the set of words in which k is not as it was, word i as bit i.
func (k *Key) Changed(was *Key) (words uint64) {
	for i := range k {
		if k[i] != was[i] {
			words |= 1 << i
		}
	}
	return words
}

// Hash tells keys apart.
func (k *Key) Hash() uint64 {
	h := uint64(1)
	for _, w := range k {
		hi, lo := bits.Mul64(h^w, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	return h
}

// InPort is the port the frame came in on.
func (k *Key) InPort() uint16 { return uint16(k[wordL2] >> shiftInPort) }

// SetInPort is Set of openflow.InPort.
func (k *Key) SetInPort(port uint16) {
	k[wordL2] = k[wordL2]&^(0xffff<<shiftInPort) | uint64(port)<<shiftInPort
}

const portBits = 0xffff<<shiftTpSrc | 0xffff<<shiftTpDst

// TTL is the field nw_ttl.
func (k *Key) TTL() uint8 { return uint8(k[wordL4] >> shiftTTL) }

// SetTTL is Set of openflow.IPTTL.
func (k *Key) SetTTL(ttl uint8) { k[wordL4] = k[wordL4]&^(0xff<<shiftTTL) | uint64(ttl)<<shiftTTL }

// IsFragment reports whether the frame is a fragment of an IP packet.
func (k *Key) IsFragment() bool { return k[wordL2]&0xff != 0 && k.isIP() }

// HidePorts prepares a fragment for a table lookup: in the switch's default mode, fragments
// are looked up as if their transport ports (and ICMP type and code) were 0, although actions
// still see them. It does nothing to a whole packet. What it returns goes to ShowPorts.
func (k *Key) HidePorts() uint64 {
	saved := k[wordL4] & portBits
	if k.IsFragment() {
		k[wordL4] &^= portBits
	}
	return saved
}

// ShowPorts undoes HidePorts.
func (k *Key) ShowPorts(saved uint64) { k[wordL4] |= saved }

// CopyFrame replaces the fields that Extract reads from a frame, and in_port, and leaves metadata,
// registers and connection state alone.
func (k *Key) CopyFrame(from *Key) {
	*(*[Words - firstHeader]uint64)(k[firstHeader:]) = *(*[Words - firstHeader]uint64)(from[firstHeader:])
}
