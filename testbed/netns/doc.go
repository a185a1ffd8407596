// Package netns builds the site of a topology out of what Linux has: real kernels, real HTTP, a real Open vSwitch.
//
// Each machine is a network namespace of its own, and so is the node: ovsdb-server, ovs-vswitchd (userspace datapath)
// and hcd run in it, with database, sockets and logs in a temporary directory. Cables are veth pairs that never pass
// through the namespace of the caller, so nothing of it can leave, and a switch that is already on the host is not
// touched.
//
// With the [Simulator] as its [Switch], a site has the program simswitch in the place of Open vSwitch, and all else is the same.
//
// The names of a run carry the process id. Close removes everything; what a run that was killed has left, the next Open
// removes. It needs root and, but for the Simulator, Open vSwitch's daemons: [Available] says.
//
// The other beds are in package testbed. This one has no virtual time: it proves what only real life shows.
package netns
