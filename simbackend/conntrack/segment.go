package conntrack

// TCP header flags (RFC 9293).
const (
	flagFIN = 1 << iota
	flagSYN
	flagRST
	flagPSH
	flagACK
	flagURG
)

// maxScale bounds a window scale option (RFC 7323 2.3).
const maxScale = 14

// scale is a window scale option as far as it is known: a shift and two flags.
type scale uint8

const (
	scaleKnown   scale = 0x80 // the peer's SYN carried the option
	scaleUnknown scale = 0x40 // the SYN was not seen: assume the widest window
)

func (s scale) shift() uint8 { return uint8(s & 0xf) }

// segment is what the tracker reads of a TCP packet.
type segment struct {
	seq, ack uint32
	length   uint32 // of the payload
	window   uint16
	flags    uint8
	options  []byte
}

func (s *segment) has(flag uint8) bool { return s.flags&flag != 0 }

// end is the sequence number behind the segment.
func (s *segment) end() uint32 {
	end := s.seq + s.length
	if s.has(flagSYN) {
		end++
	}
	if s.has(flagFIN) {
		end++
	}
	return end
}

// badFlags tells combinations that belong to no connection: SYN with RST or FIN,
// none of SYN, ACK and RST, and FIN, PSH or URG without ACK.
func (s *segment) badFlags() bool {
	if s.has(flagSYN) {
		if s.has(flagRST | flagFIN) {
			return true
		}
	} else if !s.has(flagACK | flagRST) {
		return true
	}
	return !s.has(flagACK) && s.has(flagFIN|flagPSH|flagURG)
}

// mayOpen tells whether the segment may be the first of a connection. A SYN-ACK may
// not; the middle of a stream may.
func (s *segment) mayOpen() bool {
	return !s.badFlags() && s.flags&(flagSYN|flagACK) != flagSYN|flagACK
}

// scaleOption is the window scale option of a SYN, 0 if it has none.
func (s *segment) scaleOption() scale {
	var found scale
	b := s.options
	for len(b) >= 3 {
		size := 1
		switch b[0] {
		case 0: // end of options
			return found
		case 1: // no operation
		case 3:
			found = scale(min(b[2], maxScale)) | scaleKnown
			fallthrough
		default:
			size = max(int(b[1]), 2)
		}
		b = b[min(size, len(b)):]
	}
	return found
}
