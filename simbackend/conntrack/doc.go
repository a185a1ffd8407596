// Package conntrack is the connection tracker and NAT of Open vSwitch 3.1's
// userspace datapath: what a ct() action does to a packet, and nothing else.
//
// One call of Table.Execute is one ct() action. It reads the IPv4 packet, finds or
// commits its connection, rewrites the frame where nat() says so and leaves its
// findings in the packet's Meta, from where the pipeline fills ct_state, ct_zone,
// ct_mark, ct_label and the ct_nw and ct_tp fields after recirculation:
//
//	            ct(zone=1,table=5)                ct(commit,zone=1,nat(dst=...))
//	frame  --->  new|trk      ... table 5 ...  --->  new|trk|dnat, entry, frame rewritten
//	reply  --->  est|rpl|trk  <-- table 5 ---------  nat: source back, est|rpl|trk|snat
//	           \
//	            inv|trk: bad checksum, bad header, out of window, error about nothing
//
// An entry has two tuples, each as seen on the wire: the original one, before
// translation, and the reply one, which answers the translated packet. A packet is
// matched against both and the match gives its direction.
//
// The table is pure: time is an argument (virtual time since the world's start), it
// starts nothing and logs nothing, and it iterates in the order of insertion. What the
// real tracker leaves to chance (the port after 128 failed tries, addresses chosen from
// a range by a per-process hash) is refused by Request.Validate or documented where it
// is decided.
//
// Entries that have expired are never found again, but until the next Expire they take
// room, and a translated one still owns its reply tuple: as in ovs-vswitchd, whose
// cleaner wakes every SweepInterval (and at each time/warp of a test).
//
// Not here: IPv6 (an IPv6 packet is inv|trk; a second key type would make room for it),
// helpers (alg=), zone limits and timeout policies.
package conntrack
