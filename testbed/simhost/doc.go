// Package simhost simulates the machines around a switch: hosts that speak ARP, ICMP echo,
// UDP, TCP and HTTP, as clients and servers, well enough that net/http runs on them. The
// same hosts stand in front of the simulator, of a real Open vSwitch in dummy mode, or of
// anything else that takes frames and gives frames.
//
//	         a World: one clock, one queue of events, no goroutine
//	┌───────────────────────────────────────────────────────────────┐
//	│  Host be1      Link: latency, loss, cut                       │
//	│  ┌──────────┐  ──────────────────────────▶  Switch.Receive ───┼──▶ yours
//	│  │ Web  Get │                                                 │
//	│  │ TCP  UDP │  ◀──────────────────────────  emit, Output ◀────┼─── yours
//	│  │ IP   ARP │                                                 │
//	│  └──────────┘  Host cli2 ...                                  │
//	└───────────────────────────────────────────────────────────────┘
//
// Where things live:
//
//	world.go event.go link.go log.go          time, cables, and what goes over them
//	host.go route.go neighbour.go             Ethernet, IP, ARP
//	icmp.go udp.go                            ping, errors, datagrams
//	open.go conn.go segment.go input.go       TCP, after RFC 9293 and with Linux's habits
//	output.go recovery.go cookie.go
//	web.go get.go message.go                  HTTP servers and clients
//	life.go                                   pause, kill, cut, slow
//	pump.go netconn.go netudp.go              for goroutines: net.Conn, net.Listener, DialContext
//
// Time is virtual. A World moves only when it is told to (World.Advance, World.Until), and
// two runs with the same seed and the same calls give the same frames at the same times.
// World.Run instead lets the clock follow the standard time package, so that net/http and
// other code with goroutines can use the hosts; in a testing/synctest bubble this costs no
// real time either.
//
// A World belongs to one goroutine. Others take turns by World.Do. Callbacks run inside
// the World and may call anything of it but Do, Advance, Until and Run.
//
// The hosts are models for tests and demonstrations, not a TCP stack for production: no
// IPv6, no fragments, no selective acknowledgements, timestamps or window scaling.
package simhost
