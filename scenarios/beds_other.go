//go:build !linux

package scenarios

import (
	"fmt"
	"runtime"

	"hpnn/model"
	"hpnn/testbed"
)

var openNetns, openNetnsSim, openDocker = lacking("network namespaces"), lacking("network namespaces"), lacking("wires to containers")

func lacking(what string) opener {
	return func(model.Topology, testbed.BedConfig) (testbed.Bed, error) {
		return nil, fmt.Errorf("%w: %s need linux, this is %s", testbed.ErrLacking, what, runtime.GOOS)
	}
}
