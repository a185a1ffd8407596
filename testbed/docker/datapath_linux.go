package docker

import (
	"fmt"

	"github.com/vishvananda/netlink"
)

// LacksDatapath says what this machine needs for a datapath of a type; nothing if it has all.
func LacksDatapath(kind string) []string {
	switch kind {
	case "netdev":
		return nil
	case "system":
		// Asking loads the module where there is one.
		if _, err := netlink.GenlFamilyGet("ovs_datapath"); err != nil {
			return []string{"DATAPATH=system: this kernel has no datapath of Open vSwitch: modprobe openvswitch, or leave DATAPATH out and use the one in userspace"}
		}
		return nil
	default:
		return []string{fmt.Sprintf("DATAPATH=%s: there is no such datapath: use netdev, in userspace, or system, the kernel's", kind)}
	}
}
