package scenarios

import (
	"hpnn/testbed/docker"
	"hpnn/testbed/netns"
)

var (
	openNetns    = netns.OpenBed
	openNetnsSim = netns.OpenSimBed
	openDocker   = docker.OpenBed
)
