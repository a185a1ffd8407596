// Package bridgerpc lets one process use the switch of another: a server around any datapath.Bridge, and a client that is one.
// They speak HTTP with JSON over a unix socket:
//
//	POST /commit, /flows, /ports, /trace, /packet-out, /connections, /flush    a call each, in messages.go
//	POST /events                                                               a line for each event, without end
//
// Flows, modifications and actions travel as the text that ovs-ofctl reads, so that the words of package openflow are the only
// form of them.
//
//	server.go    the calls, made to a Bridge     subscribe.go    its events, for several clients
//	client.go    the calls, made to a server     watch.go        whether the server lives
//	messages.go  what both say                   fault.go        errors on their way
package bridgerpc
