// Package dummybridge makes the real Open vSwitch of package dummy a datapath.Bridge with a clock that stands still, so
// that a whole site can live around it in virtual time as it does around the simulator.
//
//	Receive, Examine    dummy.Switch.Exchange: a frame goes in, what leaves comes out, in order of ports
//	Advance             dummy.Switch.Warp, but late: see clock.go
//	Bridge              ovsbackend, the real node's own; only events come another way, one at a time
package dummybridge
