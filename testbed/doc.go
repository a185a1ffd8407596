// Package testbed is where things happen: it puts the machines of a topology around a switch and a
// node in charge of it.
//
//	stand.go    the hosts of a topology, in any simhost.World
//	wire.go     a simulated switch at the hosts' cables, and the rules no frame may break
//	sim.go      the bed "sim": hosts, switch and node on one virtual clock, without goroutines
//	live.go     the same in real time, for the daemon's --backend sim
//
// Beds on real switches are in the packages below.
package testbed
