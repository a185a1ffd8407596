// Package realtime is a testbed.Bed on real kernels: requests are real TCP, the daemon is a real process, and the
// clock is the real one.
//
// Whoever has built a site - network namespaces, containers - gives it as a [Site], and gets the rest from here:
//
//	site.go      what a site must be able to do
//	bed.go       the bed: the clock, and what is brought to the story while time passes
//	node.go      the daemon, by its API; journal.go what its log says, in the words of all beds
//	hosts.go     the machines; get.go and ping.go their requests; web.go their web servers
//	capture.go   frames at a machine's card, both ways; passage.go those that pass the switch
//	fate.go      what became of a frame, where the switch does not tell
//
// A story runs in one goroutine, and so does everything that the bed tells it: what other goroutines see waits until
// the story lets time pass.
//
// No interval is scaled: TCP's timers, the tracker's sweeps and the timeouts of learned flows belong to the kernel and the
// switch, and a story in which only some clocks run faster is another story.
package realtime
