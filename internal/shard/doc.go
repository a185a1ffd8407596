// Package shard says which frames may be executed apart: on switches of their own, each with the same
// rules, so that every frame fares as it would on one switch that gets them all.
//
// The rule. The names of a program are the IPv4 addresses that it writes out: those that a match fixes
// in nw_src or nw_dst, that set_field writes there or to a register, that nat() translates to. A frame
// with one address that is no name belongs to that address (its key); all frames of a key go to one
// shard. Frames with no other address than names, and those that are not IPv4, go to the first shard.
// That is sound if nothing a switch remembers of a frame matters to a frame of another key:
//
//   - connections: at every ct() one end is the frame's key and the other a name (or both are names,
//     for a frame without a key), and nat() writes only where the name is. Then whatever tuple a
//     connection has, original or translated, has the same key;
//   - learned flows: they match the key of the frame that they are learned from, and what is looked up
//     in their table still has its addresses;
//   - a frame with two foreign addresses reaches neither ct() nor learn() nor a table with learned flows.
//
// Whether it holds is found by walking the rules once for every class of frames that comes up: the port,
// and for each address the longest prefix in the program that it is in, or that it is a name. The walk
// follows every rule that a frame of the class can match, and knows of a frame its port, the two
// addresses as far as said, and constants in registers. Where it cannot tell, the answer is no, with the
// rule it failed at. IPv4 fragments, and ICMP errors that quote an address of another key, are refused
// where ct() can be reached. Two limits are common to all shards, so whoever executes must watch them:
// the number of connections, and of flows that a learn(limit=) counts.
package shard
