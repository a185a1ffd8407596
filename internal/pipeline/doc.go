// Package pipeline compiles a topology into the rules of a switch: [Render] is a pure function from a model and the owners of
// its slots to a program.
//
// Every forwarding decision is such a rule. A frame enters at table 0 and moves to higher tables only:
//
//	0 ingress ─ 1 classify ─┬─ 5 arp, 6 icmp                                    answered on the spot
//	                        ├─ 2 source ─ 10 listener ─┬─ 11 slots ─ 12 member ─ 13 delivery    to a VIP
//	                        │                          └─ 15, 16, 17 routed                     past it, or an answer
//	                        │                                      └────────── 20 route ─ 21 adjacency ─ out
//	                        └─ 22, 23, 24 switched ─────────────────────────── 25 switch ─────────────── out
//
// The connection tracker is passed between 12 and 13, where the destination becomes a member's, and in 15 to 17 and 22 to
// 24, where the source of an answer becomes the VIP again. 14, 18 and 19 serve members that call themselves by a VIP.
//
// Each table is a file: its declaration, which says what it is for and all that its flows may do, the priorities with their
// meaning, and the function that writes the flows. To add a table, add such a file, its number in tables.go and its stage in
// the list there. Registers, zones and cookies have their names in regs.go. [Lint] holds a program to the declarations, and
// docs/pipeline.md explains the tables with flows taken from rendered programs.
package pipeline
