// Package node is the daemon without its process: the prober, the control loop, the operator's word
// and where it is kept, put together over any Bridge.
//
//	health.Runner --verdicts--> control.Loop --bundles--> Bridge
//	SetAdmin, Reload, Reapply ------^   |
//	state file <------------------------'
//
// It knows neither HTTP nor flags: package api serves it, cmd/hcd starts it, and the stories run it
// on a simulated switch.
package node
