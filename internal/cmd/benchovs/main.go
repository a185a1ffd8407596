// Command benchovs sends the same frames through the simulator and through Open vSwitch with DPDK, in one run on one
// machine, and prints what each makes of a second of one core, and the ratios.
//
//	benchovs -unpack     # once, where OVS with DPDK is not installed and shall not be: unpack Debian's packages in a cache
//	benchovs             # measure
//	benchovs -o FILE     # and write the figures as go test -bench prints them
//
// Both run the rules of a topology, as rendered, and receive SYNs to its VIP: of a number of connections, round and round, and
// such that every frame opens another. OVS runs its userspace datapath on one polling thread, from a capture in memory
// (net_pcap, infinite_rx) to devices that drop (net_null), without huge pages, in a network namespace, directory and
// database of its own: with its caches, and without any, so that each frame is an upcall. A trace of each frame as text
// is compared with ofproto/trace over a control socket kept open, with 16 requests under way.
//
// What is measured is the time that the kernel says the thread ran, not the time that passed, and of several windows the best
// one counts: so a busy machine disturbs little.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	topology string
	root     string
	output   string
	unpack   bool
	window   time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.topology, "topology", "examples/hpnn.yaml", "the site whose rules run")
	flag.StringVar(&o.root, "root", "", "where OVS with DPDK is unpacked (default: the system, then the cache that -unpack fills)")
	flag.StringVar(&o.output, "o", "", "write the figures to this file, as go test -bench prints them")
	flag.BoolVar(&o.unpack, "unpack", false, "unpack Debian's packages in a cache, without installing them, and end")
	flag.DurationVar(&o.window, "window", 400*time.Millisecond, "length of one measurement")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: benchovs [flags]\n\nCompares the speed of the simulator with that of Open vSwitch with DPDK.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchovs:", err)
		os.Exit(1)
	}
}
