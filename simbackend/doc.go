// Package simbackend is an OpenFlow switch in memory. It implements datapath.Bridge and
// executes real frames through the rules it is given, byte for byte as the userspace
// datapath of Open vSwitch 3.1 does. It is a reference to test against and to explain
// with, not a switch for production traffic.
//
// A frame's way, and the file where each step lives:
//
//	Receive          switch.go      one frame in, frames out
//	  recall         emc.go         what the cache remembers of equal frames
//	    replay       trail.go       do it again
//	  translate      translate.go   walk the tables, compose datapath actions
//	    lookup       classifier.go  which rule matches
//	    run          run.go         what each action does to the fields
//	    learn        learn.go       rules made from frames
//	  execute        execute.go     apply the datapath actions to the bytes
//	    ct           package conntrack; then back to translate, recirculated
//	    bytes        package flow   extraction, rewriting, hashes
//
// As in OVS, a pass through the tables only composes datapath actions, and nothing
// touches the frame before the pass has ended without error: a rule set that recurses
// too deeply drops the frame even if it output it earlier, while counters and learned
// flows stay.
//
// The cache (emc.go) spares a frame the tables if an equal one went through them before: it
// remembers what passes came to. Nothing but the time that a frame takes tells of it.
//
// A Switch is one world: one lock, no goroutine, and the time is what Advance was told
// last. What it does not support it refuses at Commit, by name.
package simbackend
