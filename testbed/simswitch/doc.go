// Package simswitch puts the simulator among real network devices: what comes in by a device runs through simbackend and leaves
// by others, with the time of the clock on the wall. So real kernels, TCP and HTTP meet the simulator's idea of every rule.
//
//	switch.go    the ports, and frames from one to another
//	packet.go    a port on a device that is there, such as a cable (packet(7))
//	tap.go       a port on a device of its own, by which the host sends and receives; OVS calls it internal
//	watchers.go  what becomes of each frame, for those who watch; report.go on its way to them
//
// It is for tests, one frame at a time; what it is held to is the wire, not a rate. The devices must do without offloads: it
// takes frames as they are, and a checksum that hardware was to fill in is wrong. The kernel's own stack sees the frames of a
// device too. It must have nothing to say: no addresses there, no ARP, no IPv6.
package simswitch
