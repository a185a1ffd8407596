//go:build !linux

package scenarios

import (
	"fmt"
	"runtime"

	"hpnn/model"
	"hpnn/testbed"
)

func openNetns(model.Topology, testbed.BedConfig) (testbed.Bed, error) {
	return nil, fmt.Errorf("%w: network namespaces need linux, this is %s", testbed.ErrLacking, runtime.GOOS)
}
