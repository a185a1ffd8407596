package ovsbackend_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"hpnn/datapath"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
)

// inNamespace moves the test, and the programs it starts, to a network namespace of its own.
func inNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	runtime.LockOSThread() // not unlocked if the way back fails: the thread then ends with the test
	home, err := netns.Get()
	require.NoError(t, err)
	own, err := netns.New()
	if err != nil {
		t.Skipf("no network namespace here: %v", err)
	}
	t.Cleanup(func() {
		require.NoError(t, netns.Set(home))
		require.NoError(t, own.Close())
		require.NoError(t, home.Close())
		runtime.UnlockOSThread()
	})
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skipf("the userspace datapath needs it: %v", err)
	}
}

var probe = ovsbackend.PortConfig{
	Name: "hcif", Number: 4, Internal: true, MAC: packet.MAC{2, 0x42, 10, 20, 0, 0xfd}, Address: netip.MustParsePrefix("10.20.0.253/24"),
	Neighbours: []ovsbackend.Neighbour{
		{Address: netip.MustParseAddr("10.20.0.2"), MAC: packet.MAC{2, 0x42, 10, 20, 0, 2}},
		{Address: netip.MustParseAddr("10.20.0.3"), MAC: packet.MAC{2, 0x42, 10, 20, 0, 3}},
	},
	Routes: []ovsbackend.Route{{To: netip.MustParseAddr("10.99.0.1"), Via: netip.MustParseAddr("10.20.0.3")}},
}

// hostSide is what the kernel says of a port.
type hostSide struct {
	mac        string
	up         bool
	addresses  []string
	neighbours map[string]string
	routes     []string // through a gateway
}

func hostSideOf(t *testing.T, name string) hostSide {
	t.Helper()
	link, err := netlink.LinkByName(name)
	require.NoError(t, err)
	h := hostSide{mac: link.Attrs().HardwareAddr.String(), up: link.Attrs().Flags&net.FlagUp != 0, neighbours: map[string]string{}}
	addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
	require.NoError(t, err)
	for _, a := range addresses {
		h.addresses = append(h.addresses, a.IPNet.String())
	}
	neighbours, err := netlink.NeighList(link.Attrs().Index, netlink.FAMILY_V4)
	require.NoError(t, err)
	for _, n := range neighbours {
		if n.State&netlink.NUD_PERMANENT != 0 {
			h.neighbours[n.IP.String()] = n.HardwareAddr.String()
		}
	}
	routes, err := netlink.RouteList(link, netlink.FAMILY_V4)
	require.NoError(t, err)
	for _, r := range routes {
		if r.Gw != nil {
			h.routes = append(h.routes, fmt.Sprintf("%v by %v", r.Dst, r.Gw))
		}
	}
	return h
}

var wantHost = hostSide{mac: "02:42:0a:14:00:fd", up: true, addresses: []string{"10.20.0.253/24"},
	neighbours: map[string]string{"10.20.0.2": "02:42:0a:14:00:02", "10.20.0.3": "02:42:0a:14:00:03"}, routes: []string{"10.99.0.1/32 by 10.20.0.3"}}

// The whole userspace switch in a namespace: its internal port is a device of this host, set up, put right,
// and set up once more when ovs-vswitchd has died and made it anew. Frames go from the host to the switch.
func TestInternalPortsAreSetUp(t *testing.T) {
	inNamespace(t)
	d := startDaemons(t, "--disable-system", "--disable-system-route")
	c := ovsbackend.Config{RunDir: d.dir, Bridge: "brt", Ports: []ovsbackend.PortConfig{probe, {Name: "nowhere", Number: 9}}}
	c.DatapathType = "netdev"
	b := openWithin(t, c)
	require.Equal(t, wantHost, hostSideOf(t, "hcif"))
	require.Contains(t, b.Info().PortProblems["nowhere"], "No such device")
	require.NoError(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "nowhere"}, PeerName: "elsewhere"}))
	require.Equal(t, "nowhere", await(t, b, datapath.PortStatus).Port.Name, "the switch takes the device when it appears")
	require.Eventually(t, func() bool { return len(b.Info().PortProblems) == 0 }, patience, 5*time.Millisecond)

	link, err := netlink.LinkByName("hcif")
	require.NoError(t, err)
	require.NoError(t, netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.IP{10, 9, 9, 9}, Mask: net.CIDRMask(24, 32)}}))
	require.NoError(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, IP: net.IP{10, 20, 0, 2}, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}, State: netlink.NUD_PERMANENT}))
	require.NoError(t, netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, IP: net.IP{10, 20, 0, 77}, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}, State: netlink.NUD_PERMANENT}))
	route := netlink.Route{LinkIndex: link.Attrs().Index, Dst: &net.IPNet{IP: net.IP{10, 99, 0, 2}, Mask: net.CIDRMask(32, 32)}, Gw: net.IP{10, 20, 0, 2}}
	route.Protocol = ovsbackend.RouteProtocol // of an earlier topology
	require.NoError(t, netlink.RouteAdd(&route))
	require.NoError(t, ovsbackend.SetUpPorts(c.Ports))
	require.Equal(t, wantHost, hostSideOf(t, "hcif"))

	foreign := netlink.Route{LinkIndex: link.Attrs().Index, Dst: &net.IPNet{IP: net.IP{10, 98, 0, 0}, Mask: net.CIDRMask(16, 32)}, Gw: net.IP{10, 20, 0, 2}}
	require.NoError(t, netlink.RouteAdd(&foreign))
	require.NoError(t, ovsbackend.SetUpPorts(c.Ports))
	require.Contains(t, hostSideOf(t, "hcif").routes, "10.98.0.0/16 by 10.20.0.2", "the operator's")
	require.NoError(t, netlink.RouteDel(&foreign))

	require.NoError(t, b.Commit(t.Context(), program(t, "table=0,priority=5,udp,in_port=4 actions=CONTROLLER:65535").Bundle()))
	conn, err := net.Dial("udp", "10.20.0.2:9")
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	in := await(t, b, datapath.PacketIn).Packet
	require.EqualValues(t, 4, in.InPort)
	require.Equal(t, wantHost.mac, net.HardwareAddr(in.Frame[6:12]).String())
	require.Equal(t, wantHost.neighbours["10.20.0.2"], net.HardwareAddr(in.Frame[:6]).String())

	d.kill(d.vswitchd)
	d.startVswitchd()
	await(t, b, datapath.Connected)
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) { // here, for the namespace is this thread's
		if _, err := netlink.LinkByName("hcif"); err == nil && reflect.DeepEqual(wantHost, hostSideOf(t, "hcif")) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	require.Equal(t, wantHost, hostSideOf(t, "hcif"))
	require.NoError(t, b.Info().HostProblem)
}
