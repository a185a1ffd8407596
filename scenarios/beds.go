package scenarios

import (
	"fmt"
	"strings"

	"hpnn/model"
	"hpnn/testbed"
)

// opener builds a site on a bed.
type opener func(model.Topology, testbed.BedConfig) (testbed.Bed, error)

// beds lists where stories can happen, the cheapest first.
func beds() []struct {
	name string
	open opener
} {
	return []struct {
		name string
		open opener
	}{
		{"sim", testbed.OpenSim},
		{"dummy", testbed.OpenDummy},
		{"netns", openNetns},
		{"netns-sim", openNetnsSim},
		{"docker", openDocker},
	}
}

// Beds lists the names of the beds.
func Beds() (names []string) {
	for _, b := range beds() {
		names = append(names, b.name)
	}
	return names
}

func findBed(name string) (opener, error) {
	for _, b := range beds() {
		if b.name == name {
			return b.open, nil
		}
	}
	return nil, fmt.Errorf("find bed %q: there is none of this name: use %s", name, strings.Join(Beds(), ", "))
}
