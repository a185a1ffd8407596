// Package ofwire is the binary form of package openflow's words: what goes over the wire when a
// switch is told to change its flows, and when it lists them.
//
//	AppendFlowMod    a change, as the body of an OFPT_FLOW_MOD
//	DecodeFlowMod    the reverse
//	AppendEntries    the flows in the body of a reply to OFPMP_FLOW_DESC
//
// It is OpenFlow 1.5 with Open vSwitch's extensions, byte for byte what ovs-ofctl(8) sends; the tests
// compare them. It is pure: bytes in, bytes out. What it cannot say, or does not understand, it names in
// an *UnsupportedError and never leaves out, so that a caller can take another way.
//
// What a value means does not depend on who says it: decoding what was encoded makes the same value, but
// for actions that OpenFlow 1.5 has in another spelling only (see Spell).
//
// Sources: OpenFlow Switch Specification 1.5.1, section 7; Open vSwitch's nicira-ext.h, meta-flow.h and
// ofp-actions.c of version 3.1 for the layout of extensions; recordings of what ovs-ofctl sends.
package ofwire
