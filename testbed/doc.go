// Package testbed is where things happen: it puts the machines of a topology around a switch and a
// node in charge of it.
//
//	stand.go    the hosts of a topology, in any simhost.World
//	wire.go     a simulated switch at the hosts' cables, and the rules no frame may break
//	sim.go      a site on one virtual clock, without goroutines, around any VirtualSwitch
//	simbed.go   the same as a Bed: "sim" around the simulator, "dummy" around a real ovs-vswitchd
//	live.go     the same in real time, for the daemon's --backend sim
//
// Beds on real switches are in the packages below.
package testbed
