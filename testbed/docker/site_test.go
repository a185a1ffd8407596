package docker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

func (m Machine) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:%d %v %v", m.Container, m.Port.Name, m.Port.Number, m.Address, m.MAC)
	if m.Serves != nil {
		fmt.Fprintf(&b, " serves %d", m.Serves[0])
	}
	for _, r := range m.Routes {
		to := "default"
		if r.To.IsValid() {
			to = r.To.String()
		}
		fmt.Fprintf(&b, ", %s via %v", to, r.Via)
	}
	return b.String()
}

func TestSiteOfTheExample(t *testing.T) {
	var all []string
	for _, m := range Site(example(t)) {
		all = append(all, m.text())
	}
	require.Equal(t, []string{
		"hpnn-be1 be1:10 10.20.0.2/24 02:42:0a:14:00:02 serves 8080, 192.168.5.0/24 via 10.20.0.1, 10.30.0.0/24 via 10.20.0.1, default via 10.20.0.254",
		"hpnn-be3 be3:11 10.20.0.3/24 02:42:0a:14:00:03 serves 8080, 192.168.5.0/24 via 10.20.0.1, 10.30.0.0/24 via 10.20.0.1, default via 10.20.0.254",
		"hpnn-cli2 cli2:12 10.20.0.10/24 02:42:0a:14:00:0a",
		"hpnn-be2 be2:20 10.30.0.2/24 02:42:0a:1e:00:02 serves 8080, 192.168.5.0/24 via 10.30.0.1, 10.20.0.0/24 via 10.30.0.1, default via 10.30.0.254",
		"hpnn-be4 be4:21 10.30.0.3/24 02:42:0a:1e:00:03 serves 8080, 192.168.5.0/24 via 10.30.0.1, 10.20.0.0/24 via 10.30.0.1, default via 10.30.0.254",
		"hpnn-cli3 cli3:22 10.30.0.10/24 02:42:0a:1e:00:0a",
		"hpnn-client pub0:1 192.168.5.13/24 02:42:c0:a8:05:0d, 10.20.0.0/24 via 192.168.5.20, 10.30.0.0/24 via 192.168.5.20",
		"hpnn-gw-p2 p2:2 10.20.0.254/24 02:42:0a:14:00:fe",
		"hpnn-gw-p3 p3:3 10.30.0.254/24 02:42:0a:1e:00:fe",
	}, all)
}

func TestMachinesBeyondTakeFreeAddresses(t *testing.T) {
	topology := example(t)
	client := Site(topology)[6]
	topology.Hosts = append(topology.Hosts, model.Host{
		Name: "other", Segment: "pub", Address: client.Address.Addr(), MAC: client.MAC, Port: *topology.Segments[0].Uplink,
	})
	site := Site(topology)
	require.Len(t, site, 9, "a host behind an uplink is no container of its own")
	require.Equal(t, "192.168.5.12/24", site[6].Address.String())
}
