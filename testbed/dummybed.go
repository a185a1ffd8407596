package testbed

import (
	"context"
	"fmt"

	"hpnn/model"
	"hpnn/testbed/dummy"
	"hpnn/testbed/dummybridge"
)

// OpenDummy builds a site around a real ovs-vswitchd with dummy ports, in virtual time.
func OpenDummy(t model.Topology, c BedConfig) (Bed, error) {
	if reason, ok := dummy.Available(); !ok {
		return nil, fmt.Errorf("%w: %s", ErrLacking, reason)
	}
	sw, err := dummybridge.Open(context.Background(), Ports(t))
	if err != nil {
		return nil, fmt.Errorf("build site: %w", err)
	}
	return openVirtual(simBed{name: "dummy"}, t, sw, c)
}
