// Package ovsbackend is datapath.Bridge over a real Open vSwitch, through its own tools and sockets.
//
//	Commit, PacketOut     ovs-ofctl bundle, the changes on standard input (OpenFlow 1.5)
//	Flows                 ovs-ofctl dump-flows
//	Ports                 OpenFlow, on the bridge's socket
//	Trace, Conntrack      ovs-vswitchd's control socket
//	Events                an OpenFlow connection that stays open
//	Open                  OVSDB: the bridge, its ports, fail-mode=secure
//
// It speaks to the switch whose run directory and database it was given, and to no other. Where a
// tool runs, no shell is involved: arguments are a list, flows go over standard input. Every call ends
// with its context or after Config.Timeout. What Open vSwitch says when it refuses is in the error; when
// it does not answer, the error wraps datapath.ErrUnavailable and says what was tried.
//
// A Bridge outlives the switch. When ovs-vswitchd or ovsdb-server has died and come back, the bridge,
// its ports and their addresses are put in order again, and a Connected event tells that flows may
// be missing.
//
// What a caller should know of Open vSwitch:
//
//   - Counters of flows lag by up to half a second: the datapath reports what its cache has forwarded.
//   - Connections belong to the datapath, not to the bridge. With the kernel's, those of the host's
//     network namespace are among them; a filter without a zone reaches them too.
//   - A trace takes the state and translation of connections from the tracker as it is; what no
//     packet has shaped yet, it assumes as ofproto/trace does: new, the first address of a range.
package ovsbackend
