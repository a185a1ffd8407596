package testbed

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is something that a story may need of a bed.
type Feature uint8

// Possible features.
const (
	VirtualTime   Feature = iota + 1 // time costs nothing, and two runs are alike to the microsecond
	FreezeHosts                      // processes can be frozen
	SuspendHosts                     // and whole machines
	KillHosts                        // processes can be killed and revived
	CutCables                        // cables can be unplugged
	SlowCables                       // and slowed
	RawFrames                        // a host can send any frame, and what it receives can be seen
	Fates                            // what became of a frame that a host was told to send is known
	Taps                             // and of every other frame
	FailSwitch                       // calls to the switch can be made to fail
	RestartSwitch                    // the switch can be restarted
	KillNode                         // the node can be killed and started
)

// features has the name and meaning of each feature.
var features = [...]struct{ name, meaning string }{
	VirtualTime:   {"virtual-time", "time costs nothing, and two runs are alike"},
	FreezeHosts:   {"freeze", "processes of hosts can be frozen"},
	SuspendHosts:  {"suspend", "whole hosts can be frozen, kernel and all"},
	KillHosts:     {"kill", "processes of hosts can be killed and revived"},
	CutCables:     {"cut", "cables can be unplugged"},
	SlowCables:    {"delay", "cables can be made slow"},
	RawFrames:     {"raw-frames", "hosts can send any frame, and what they receive can be seen"},
	Fates:         {"fates", "what became of a frame that a host was told to send is known"},
	Taps:          {"taps", "what became of every frame in the switch is known, of thousands in a second, too"},
	FailSwitch:    {"fail-switch", "calls of the node to the switch can be made to fail"},
	RestartSwitch: {"switch-restart", "the switch can be restarted"},
	KillNode:      {"kill-node", "the node can be killed and started again"},
}

// Features lists all of them.
func Features() (all []Feature) {
	for f := VirtualTime; int(f) < len(features); f++ {
		all = append(all, f)
	}
	return all
}

// String is the feature's name.
func (f Feature) String() string { return features[f].name }

// Meaning says what a bed with the feature can do.
func (f Feature) Meaning() string { return features[f].meaning }

// ParseFeature finds a feature by its name.
func ParseFeature(name string) (Feature, error) {
	var names []string
	for _, f := range Features() {
		if f.String() == name {
			return f, nil
		}
		names = append(names, f.String())
	}
	slices.Sort(names)
	return 0, fmt.Errorf("find feature %q: use one of %s", name, strings.Join(names, ", "))
}
