// Package model says what is wanted of a node: its segments, hosts and routes, and the pools and listeners it balances.
//
// A [Topology] is a plain value. It comes from one YAML file ([Load], [Parse]) or is built in Go ([WithDefaults],
// [Validate]), and nothing in it depends on a switch, a clock or the state of any member. The balancer's objects carry
// Octavia's names (listener, pool, member, health monitor), the switch's carry OpenFlow's (port). A topology that passes
// validation always renders: there is no later gate.
//
// # The file
//
//	node:      {name, bridge}
//	segments:  [{id, name, kind, prefix, gateway: {address, mac}, uplink: {name, number},
//	             probe: {address, mac, port: {name, number}}}]
//	hosts:     [{name, segment, address, mac, port: {name, number}}]
//	routes:    [{prefix, via}]
//	pools:     [{id, name, slots, hash, algorithm, no_live_member,
//	             health: {type, interval, timeout, rise, fall, initial, fast_interval, slow_interval,
//	                      path, host_header, expect, body_limit, payload, reply},
//	             members: [{id, name, host, address, port, weight, admin}]}]
//	listeners: [{name, vip, protocol, port, segments, pool}]
//
// A port may be written as its number and a gateway as its address. [Keys] is the reference: the type, default and meaning of
// every key; examples/README.md shows it as a table. [Topology.YAML] writes a topology back with every default filled in.
//
// # Faults
//
// All faults are reported at once as [Faults], each with its place, the field's path and a remedy. The rules are the same for
// a file and for a topology built in Go; they work on the Topology, and the loader looks their paths up in the file. A
// field that could not be read, or follows from one that could not, causes no second fault.
//
// # How it is made
//
// The tables in keys.go describe each YAML mapping once: key, type, default, meaning, and where its value lies in the Go
// struct. Loading, defaults, the rules of single fields, printing and the reference all walk these tables, so a new key is one
// new entry. Rules between fields are in check_network.go and check_balancer.go.
package model
