package scenarios

import (
	"hpnn/testbed/docker"
	"hpnn/testbed/netns"
)

var (
	openNetns  = netns.OpenBed
	openDocker = docker.OpenBed
)
