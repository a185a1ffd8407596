// Package conformance asks a real Open vSwitch and the simulator the same questions and compares the answers.
//
// A Case is a program and what happens to the switch that runs it: frames that arrive, time that passes, bundles that
// are committed. Simulate runs it in memory, an Oracle runs it on a real ovs-vswitchd; each gives a Record of all that
// can be seen from outside: the frames sent, the flows with their counters and ages, the tracked connections. Compare
// says in words where two Records first differ.
//
//	Generate(seed) ──> Case ──> Simulate ──────> Record ──┐
//	                    │                                 ├──> Compare ──> "" or a difference ──> Shrink ──> testdata
//	                    └─────> Oracle.Run ────> Record ──┘
//
// Generate makes a Case of a number, the same one on every machine. Its programs are over the whole language that the
// simulator supports, its matches are drawn from the frames that will come, and its frames are talks between hosts that
// answer what the switch has sent them, besides all kinds of odd ones.
//
// What OVS 3.1.0 is known to do wrong, or leaves to chance, is not generated; Exclusions names each such thing.
//
// A Case and the real switch's Record of it are one readable file (File). Those in testdata are mismatches of the past,
// shrunk; they are replayed by a test that needs no OVS.
package conformance
