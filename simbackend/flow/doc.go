// Package flow is the simulator's frame layer: what the switch knows of one frame.
//
// A Key is all of it in a fixed array of words: headers, ingress port, registers,
// connection state. Extract fills a Key from bytes, in one pass that accepts any bytes.
// Actions change the Key; Packet.Rewrite then carries the difference between two Keys
// over to the bytes, checksums included. Multipath hashes a Key. Format prints one as
// ofproto/trace does.
//
//	bytes --Extract--> Key --actions--> Key' --Rewrite(Key, Key')--> bytes'
//	                    |                |
//	                    +-- k[i]&m[i] ---+-- Multipath
//	                        classifier
//
// Everything is exact to the byte with the userspace datapath of Open vSwitch 3.1, its
// known faults included (later fragments lose two bytes of payload when an address is
// rewritten), because programs are judged by what that switch does. Nothing allocates
// except printing and a buffer that must grow.
//
// Sources: ovs-fields(7), ovs-actions(7), RFC 791, 826, 1624, 2460, 4861, 9260; the rest
// was measured on the switch, and the tests ask it again.
package flow
