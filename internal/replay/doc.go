// Package replay runs captures through a switch in memory and says what became of every frame.
//
//	captures ──> merge by time ──> simbackend.Switch ──> OUT/<port>.pcap
//	one a port       = clock              │
//	                                      └──> account ──> Report
//
// A Node is what is replayed through: ports, rules, and what they mean to people. Its time is
// that of the captures: 0 at the first frame, and where a time stamp steps back, time stands
// still. Nothing grows with the length of the captures: frames are read, executed, written and
// forgotten; the report holds counts and examples.
package replay
