// Command supervise is the first process of the node's container: it starts ovsdb-server, ovs-vswitchd and hcd, starts
// again what ends, hands signals on, and buries orphans.
//
// SIGHUP goes to hcd, which reads its topology again. SIGTERM and SIGINT end all, the last started first.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	topology := flag.String("topology", "/etc/hpnn/topology.yaml", "the topology `FILE`")
	datapath := flag.String("datapath", "netdev", "`TYPE` of the datapath: netdev, or system for the kernel's")
	flag.Parse()
	s := newSupervisor(services(*topology, *datapath))
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "supervise:", err)
		os.Exit(1)
	}
	s.run()
}
