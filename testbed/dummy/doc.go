// Package dummy runs a real ovs-vswitchd as an oracle: a switch that answers "what would Open vSwitch do with this
// frame?" without root, without network devices, and the same way every time.
//
// A Switch is two daemons (ovsdb-server and ovs-vswitchd --enable-dummy=override) in a directory of their own. They
// know nothing of a switch that may already run on the host. All ports are dummy ports: frames go in through the
// control socket and come out in capture files.
//
//	Receive ──> netdev-dummy/receive ──> bridge br0 (real flow tables, real conntrack) ──> pN.pcap ──> Outputs
//	Warp    ──> time/warp            ──> one virtual clock for flows, conntrack and MAC table
//
// What makes it deterministic:
//
//   - The clock stands still from Start on and moves only by Warp. When Warp returns, every flow whose timeout has
//     passed is gone: OVS's sweep has run at the new time.
//   - other_config:flow-limit=0 keeps the datapath from caching flows. Each frame, and each recirculation of it, is
//     translated afresh, so flow changes, learned flows and counters take effect at once and exactly.
//   - Receive returns when the frames have left all tables: it awaits an OpenFlow barrier behind each frame, or, for
//     several at once, the port's own count of them.
//
// What it does not promise:
//
//   - The order of one frame's copies on different ports. OVS gathers its output by port before it sends it, and each
//     port has a capture file of its own. The order on one port is exact; frames of different Receive calls are told
//     apart by calling Outputs in between.
//   - The order of lines in dumps of flows and connections, and recirculation ids in traces.
//   - Forgetting fragments that wait for reassembly: Reset does not flush them. Warp 30 s, or use fresh IP IDs.
//   - Frames above 1514 bytes (1518 with a VLAN tag): dummy ports drop them on output.
//
// Some inputs make OVS 3.1.0 abort (an action set pending at ct(table=), ICMP errors through NAT). Then calls return
// an [AbortedError] with the end of the daemon's log, and [Switch.Restart] begins anew.
//
// The package deals in text and bytes only, so that any test may use it:
//
//	sw := dummy.ForTest(t, dummy.Config{Ports: dummy.NumberedPorts(2)})
//	err := sw.ReplaceFlows(ctx, "in_port=1,actions=output:2")
//	err = sw.Receive(ctx, "p1", frame)
//	outputs, err := sw.Outputs()
package dummy
