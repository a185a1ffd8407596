// Package control is the loop in which intent meets facts.
//
//	topology, drain, enable --.
//	members up and down -------+--> Core --> layout --> Program --> Diff --> one bundle
//	what the switch holds ----'
//
// What is in the switch is a function of the Core's state, never of history: whatever happened,
// the next step compares the flows that are there with those that should be, and commits the
// difference. A restart, a lost bundle, a flow deleted by hand and a changed weight take the same
// way.
//
// One step is allowed to be quicker: when members come or go, and the switch was found or made as it should be since
// it was last connected, the difference between the two programs is committed without reading the switch first. That
// assumes nothing that the next comparison, a second later, does not check; a failure, a connection that was made
// anew and a topology that was replaced make the next step compare.
//
// Core is pure but for its Bridge: time is an argument, it starts nothing and logs nothing, and
// says what it did in values. Loop is the goroutine around it.
package control
