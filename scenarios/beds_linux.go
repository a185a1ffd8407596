package scenarios

import "hpnn/testbed/netns"

var openNetns = netns.OpenBed
