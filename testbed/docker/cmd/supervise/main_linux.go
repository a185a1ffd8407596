// Command supervise is the first process of the node's container: it starts ovsdb-server, ovs-vswitchd and hcd, starts
// again what ends, hands signals on, and buries orphans.
//
// SIGHUP goes to hcd, which reads its topology again. SIGTERM and SIGINT end all, the last started first. While the file
// /run/hpnn/hold is there hcd is not started, and not started again.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var o options
	flag.StringVar(&o.topology, "topology", "/etc/hpnn/topology.yaml", "the topology `FILE`")
	flag.StringVar(&o.datapath, "datapath", "netdev", "`TYPE` of the datapath: netdev, or system for the kernel's")
	flag.StringVar(&o.log, "hcd-log", "", "hcd adds its log to this `FILE`, as JSON, and not to the container's")
	hold := flag.Bool("hold", false, "begin with "+holdFile+" there")
	flag.Parse()
	s := newSupervisor(services(o))
	err := prepare()
	if err == nil && *hold {
		err = os.WriteFile(holdFile, nil, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "supervise:", err)
		os.Exit(1)
	}
	s.run()
}
