// Package model says what is wanted of a node: its segments, hosts and routes, and the pools and listeners it balances.
//
// A [Topology] is a plain value. It comes from one YAML file ([Load]) or is built in Go, and nothing in it depends on a
// switch, a clock or the state of any member. The balancer's objects carry Octavia's names (listener, pool, member, health
// monitor), the switch's carry OpenFlow's (port).
package model
