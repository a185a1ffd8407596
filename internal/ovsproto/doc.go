// Package ovsproto speaks the two protocols of a running ovs-vswitchd over its Unix sockets: its
// control socket (Control: what ovs-appctl(8) says) and the OpenFlow socket of a bridge (Conn; shared
// by many, Session).
//
// Of OpenFlow 1.5 it knows the framing, and those messages that are a few numbers: hello, echo,
// barrier, ports, packet-ins, the opening and the commit of bundles, errors. What has a language of its
// own, matches and actions, it carries as bytes; package ofwire or ovs-ofctl(8) encodes and decodes them.
//
// Nothing here waits longer than its context. A call that the context broke off leaves a Control
// or a Session usable, but not a Conn: half a message may have been read.
//
// Sources: OpenFlow Switch Specification 1.5.1, section 7; ovs-vswitchd(8); JSON-RPC 1.0.
package ovsproto
