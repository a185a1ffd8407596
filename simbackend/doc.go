// Package simbackend is an OpenFlow switch in memory. It implements datapath.Bridge and
// executes real frames through the rules it is given, byte for byte as the userspace
// datapath of Open vSwitch 3.1 does. It is a reference to test against and to explain
// with, not a switch for production traffic.
//
// A frame's way, and the file where each step lives:
//
//	Receive          switch.go      one frame in, frames out
//	  recall         cache.go       what is remembered: of equal frames (emc.go), of frames
//	                                that are alike in all that matters (megaflow.go)
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
// The cache spares a frame the tables if one like it went through them before: it remembers what
// passes came to (path.go), and what they looked at (wildcards.go). Nothing but the time that a
// frame takes tells of it.
//
// A Switch is one world: one lock, no goroutine, and the time is what Advance was told
// last. What it does not support it refuses at Commit, by name.
package simbackend
