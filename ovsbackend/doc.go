// Package ovsbackend is datapath.Bridge over a real Open vSwitch, through its own tools and sockets.
//
//	Commit, Flows, Events  an OpenFlow 1.5 connection that stays open: bundles, flow dumps
//	PacketOut              ovs-ofctl bundle, the frame on standard input
//	Ports                  OpenFlow, on the bridge's socket
//	Trace, Conntrack       ovs-vswitchd's control socket
//	Open                   OVSDB: the bridge, its ports, fail-mode=secure
//
// Flows have two forms (Config.Wording): messages of OpenFlow over the connection, or text that ovs-ofctl reads and
// prints. The first is many times faster; the second is what the first is checked against, and what it gives way to where
// a flow has no binary form in package ofwire. A bundle is sent first and committed when the switch has looked at all of
// it. A connection that breaks before that does not matter: the bundle is sent again over the next. One that breaks later
// leaves it open whether the bundle took effect, and is an error.
//
// It speaks to the switch whose run directory and database it was given, and to no other. Where a
// tool runs, no shell is involved: arguments are a list, flows go over standard input. Every call ends
// with its context or after Config.Timeout. What Open vSwitch says when it refuses is in the error; when
// it does not answer, the error wraps datapath.ErrUnavailable and says what was tried.
//
// The bridge and the ports of Config stay as Config has them: when somebody changes or removes them they are put in order
// again, and a Connected event tells that flows may be missing.
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
