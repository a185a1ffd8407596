//go:build !linux

package scenarios

import (
	"errors"
	"runtime"

	"hpnn/model"
	"hpnn/testbed"
)

func openNetns(model.Topology, testbed.BedConfig) (testbed.Bed, error) {
	return nil, errors.New("open bed netns: network namespaces need linux, this is " + runtime.GOOS)
}
