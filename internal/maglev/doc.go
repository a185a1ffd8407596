// Package maglev lays out the slots of a load-balancer pool: which member owns each of the 1 to
// 65536 numbers that a connection's hash can come to.
//
// A layout is a pure function of the pool id, the number of slots, the configured members with
// their weights, and which of them are live. It does not depend on the order of the members or
// on what went before, so nodes that see the same members agree on every slot without talking,
// and compare digests to make sure. The arithmetic is in integers throughout.
//
// Both layouts rest on the turn-taking of Maglev (Eisenbud et al., NSDI 2016, section 3.4): every
// member has its own order of preference over the slots (see permutation), and whoever has the
// turn takes the free slot it likes best (see builder.walk). Weighted turns keep every share within
// one slot of the exact one (see turns).
//
//   - Maglev, version 1, is that, over the live members. When a member fails or returns, some
//     slots that have nothing to do with it change owner too: foreign moves, 1 % of 1024 slots with 4
//     members and 4 % with 64.
//   - MaglevStable, version 2 and the default, takes turns over the configured members, dead or
//     not, and lets each slot of a dead member pass down a line of heirs (see succession). Failures
//     from the full set and returns to it move no foreign slot, whatever the pool, and a recovery
//     gives back exactly the slots lost. Among up to eight equal members with 1024 slots no single
//     failure or return moves one, whoever else is dead; among 64, of which up to five are dead, it
//     is less than 1 %. Shares stay within two slots of the fair one (see even).
//
// A change of the configuration (a member added, removed or reweighed) moves foreign slots with
// both. Run
//
//	go test -run DisruptionFigures -v ./internal/maglev
//
// for figures, and see Disruption for what counts as foreign.
package maglev
