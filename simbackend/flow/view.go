package flow

import of "hpnn/datapath/openflow"

// View is all by which the tables can tell frames of microflows apart that come to the same place with the
// same registers: a Microflow, and what the connection tracker says.
//
//	0 to 3  as in Microflow
//	4       the link of a Choice, if one is to be compared
//	5       ct_state<<56 | ct_nw_proto<<48 | ct_zone<<32 | ct_tp_src<<16 | ct_tp_dst
//	6       ct_nw_src<<32 | ct_nw_dst
//	7       ct_mark
//	8, 9    ct_label
//
// A mask of a View is a View too.
type View [ViewWords]uint64

// ViewWords is the number of words of a View.
const ViewWords = 10

const (
	viewLink = len(Microflow{}) + iota
	viewCT
	viewCTv4
	viewMark
	viewLabel
)

// Alike is the mask of what views that are compared have in common in any case: what no View tells, and in_port,
// nw_proto, ct_state and ct_nw_proto, on which it depends what fields a frame has.
func Alike() (mask Key) {
	for w := range mask {
		mask[w] = ^uint64(0)
	}
	for _, w := range []int{wordDst, wordSrc, wordIPv4, wordL4, wordCTv4, wordCTLabel, wordCTLabel + 1} {
		mask[w] = 0
	}
	mask[wordMark] = 0xffffffff << 32
	mask[wordCT] = 0xff<<56 | 0xff<<48
	return mask
}

// Microflow is that of the frame.
func (v *View) Microflow() *Microflow { return (*Microflow)(v[:viewLink]) }

// Read makes v the view of a frame that is not tracked. See Microflow.Read.
func (v *View) Read(frame []byte, inPort uint16) (Layout, bool) {
	v.Untrack()
	return v.Microflow().Read(frame, inPort)
}

// SetConnection makes v tell what the tracker found.
func (v *View) SetConnection(c *Connection) {
	v[viewCT] = c.word()
	v[viewCTv4] = uint64(c.Src)<<32 | uint64(c.Dst)
	v[viewMark] = uint64(c.Mark)
	v[viewLabel], v[viewLabel+1] = c.Label.Hi, c.Label.Lo
}

// Untrack makes v, or a mask, that of a frame of which the tracker has said nothing.
func (v *View) Untrack() { clear(v[viewCT:]) }

// Of is the view of a frame with the fields k, or the mask of views that is left of a mask.
func (v *View) Of(k *Key) {
	l2, l4 := k[wordL2], k[wordL4]
	v[0] = k[wordDst]<<16 | l2>>shiftInPort
	v[1] = k[wordSrc]<<16 | l4>>shiftTOS&0xff<<8 | l4>>shiftTTL&0xff
	v[2] = k[wordIPv4]
	v[3] = l4&portBits | l4&0x0fff<<8 | l2>>shiftProto&0xff
	v[viewCT], v[viewCTv4], v[viewMark] = k[wordCT], k[wordCTv4], k[wordMark]&0xffffffff
	v[viewLabel], v[viewLabel+1], v[viewLink] = k[wordCTLabel], k[wordCTLabel+1], 0
}

// Headers gives k the header fields of a microflow. The others are to be 0 already.
func (m *Microflow) Headers(k *Key) {
	k[wordDst], k[wordSrc], k[wordIPv4] = m[0]>>16, m[1]>>16, m[2]
	k[wordL2] = m[0]&0xffff<<shiftInPort | of.EthTypeIPv4<<shiftType | m[3]&0xff<<shiftProto
	k[wordL4] = m[3]&portBits | m[1]>>8&0xff<<shiftTOS | m[1]&0xff<<shiftTTL | m[3]>>8&0x0fff
}
