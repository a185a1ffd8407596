// Package api serves a node over HTTP: its status and metrics to read, and a few calls that change
// something.
//
//	GET  /healthz                 is the daemon itself alive
//	GET  /status, /status.txt     pools, members, the control loop
//	GET  /metrics                 Prometheus
//	GET  /topology                what is wanted, with the operator's word in it, as YAML
//	GET  /flows?table=N           what the switch holds, with counters
//	GET  /traffic                 packets, bytes and connections of each member
//	GET  /ports, /conns, /fdb     ports, tracked connections, learned addresses
//	GET  /trace?in_port=P&frame=HEX  what would happen to a frame now
//	POST /drain?member=M          give a member no new connections
//	POST /enable?member=M         give it connections again
//	POST /reapply                 compare the switch with what it should hold, at once
//
// Whatever changes something takes POST. A call that names another host, or that a browser
// page of another origin makes, is refused: the daemon listens where its operators are, and a
// page they read is not to drain their pool. Unknown parameters are errors. An error is a JSON
// object {"error": "..."}.
package api
