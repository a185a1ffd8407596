// Package health finds out which members of a pool live.
//
// It has two halves. The pure one takes the time as an argument and has no goroutine, no clock and no log:
//
//   - [Tracker] turns the results of one member's probes into its state, by the rise and fall of its monitor;
//   - [Pace] and [Schedule] say when which member is probed next;
//   - [Roster] holds both for all members, and is all that a simulation with a clock of its own needs.
//
// The other half does what they say:
//
//   - [Prober] probes a member once: [HTTP], [TCP], [UDP], [ICMP]. What it sends goes through a [Dial] function, so that a
//     simulated host is probed by the same code as a real one;
//   - [Runner] owns a roster and the goroutines, runs the probes and reports their results in the order they come in.
//
// # What counts
//
// Consecutive means consecutive. A member that is up goes down after `fall` failures with no success between them, and a
// member that is down goes up after `rise` successes with no failure between them; one opposite result starts the count
// anew. (Several balancers shipped counters that one opposite result did not reset: a member with one failure in three then
// goes down for no reason.)
//
// Before its first verdict a member has the state its monitor's `initial` says:
//
//	down   down, and its first success is enough to be up, however many failures came before it
//	rise   down, until `rise` successes in a row
//	up     up, until `fall` failures in a row
//
// Down is the default: no client is sent to a member that nobody has seen alive, and yet a daemon that starts serves after
// one round of probes. A member whose state is known from elsewhere starts with that instead ([Seed]): a daemon that is
// restarted takes the members that own slots in the switch for up, and only `fall` failures take them out.
//
// A probe the node could not send - no permission, no free port, its own address missing - says nothing about the member
// ([NotProbed]). It is counted and shown, but neither adds to a run of results nor ends it: a fault of the node must not
// empty every pool at once.
//
// The admin state (drained or enabled) is the operator's word and stands beside the health, never in it: a drained member
// is probed like any other, and nothing it is told by the operator changes a count.
package health
