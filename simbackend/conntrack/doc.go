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
// starts nothing and logs nothing, and it iterates in the order of insertion.
//
// Entries that have expired are never found again, but until the next Expire they take
// room, and a translated one still owns its reply tuple: as in ovs-vswitchd, whose
// cleaner wakes every SweepInterval (and at each time/warp of a test). So a client that
// uses its port again right after a close gets another source port behind the
// translation, and a late reply of an expired translated connection is invalid, not new.
//
// Not here: IPv6 (an IPv6 packet is inv|trk; a second key type would make room for it),
// helpers (alg=), zone limits and timeout policies.
//
// Where OVS 3.1.0 leaves things to chance or breaks, the tracker is defined:
//
//   - Ranges of addresses or ports are spread by a random seed there, and commit with a
//     bare nat loses an address: Request.Validate refuses both.
//   - After 128 taken source ports OVS goes on from random ones; here, upwards.
//   - An ICMP error through nat whose quote ends before the TCP checksum makes OVS write
//     behind the packet; here it may spoil padding as it does there, but never leaves the frame.
//   - Some packets end ovs-vswitchd; here they are counted by Table.Aborts.
//   - A fragment let go after waiting in vain shows what OVS's memory held before as
//     ct_zone, ct_mark and ct_label; here they are zero, unless an earlier ct() set them.
//   - Released fragments go through the rest of a pass one by one; OVS takes them through each
//     action together. Behind another ct() of the same pass a duplicate can tell the difference.
//   - To TCP packets from or to port 21 OVS gives a checksum of 0 for one of 0xffff, which
//     is as right; here it stays.
package conntrack
