package health

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// apart runs a test on a thread of its own in a new network namespace with loopback up. The thread ends with it, so it may
// give up its privileges.
func apart(t *testing.T, test func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a network namespace")
	}
	done := make(chan struct{})
	skip := ""
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread must not be used again
		ns, err := netns.New()
		if err != nil {
			skip = err.Error()
			return
		}
		defer ns.Close()
		lo, err := netlink.LinkByName("lo")
		require.NoError(t, err)
		require.NoError(t, netlink.LinkSetUp(lo))
		test()
	}()
	<-done
	if skip != "" {
		t.Skip("cannot make a network namespace here: " + skip)
	}
}

// sysctl sets a variable of the thread's own network namespace.
func sysctl(t *testing.T, path, value string) {
	require.NoError(t, os.WriteFile("/proc/sys/"+path, []byte(value), 0o644))
}

// drop makes the thread that of nobody.
func drop(t *testing.T) {
	const nobody = 65534
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody)
	require.Zero(t, errno)
}

const allGroups = "0 2147483647"

func TestICMPByPingSocketNeedsNoPrivilege(t *testing.T) {
	apart(t, func() {
		sysctl(t, "net/ipv4/ping_group_range", allGroups)
		drop(t)
		to := target(t, "127.0.0.1:0", patient)
		conn, err := NetDial(t.Context(), "icmp", "127.0.0.1", "127.0.0.1")
		require.NoError(t, err)
		require.IsType(t, &net.UDPConn{}, conn)
		conn.Close()
		requireResult(t, Passed, "", ICMP{}.Probe(t.Context(), to))
	})
}

func TestICMPByRawSocket(t *testing.T) {
	apart(t, func() {
		to := target(t, "127.0.0.1:0", patient)
		conn, err := NetDial(t.Context(), "icmp", "127.0.0.1", "127.0.0.1")
		require.NoError(t, err)
		require.IsType(t, rawConn{}, conn, "a new namespace permits ping sockets to nobody")
		conn.Close()
		requireResult(t, Passed, "", ICMP{}.Probe(t.Context(), to))
	})
}

func TestICMPNotPermitted(t *testing.T) {
	apart(t, func() {
		drop(t)
		requireResult(t, NotProbed,
			"not probed: not permitted to send ICMP: grant CAP_NET_RAW, or on Linux a group in net.ipv4.ping_group_range",
			ICMP{}.Probe(t.Context(), target(t, "127.0.0.1:0", patient)))
	})
}

func TestICMPIsIPv4Only(t *testing.T) {
	to := Target{Address: netip.MustParseAddrPort("[::1]:0")}
	requireResult(t, Failed, "dial icmp ::1: not an IPv4 address", ICMP{}.Probe(t.Context(), to))
}

// neighbours joins a new namespace with 10.9.1.1/24, in which the test runs, to a router with 10.9.1.2 that rejects
// 10.9.2.0/24. Neighbours that do not answer ARP are given up soon.
func neighbours(t *testing.T, test func()) {
	apart(t, func() {
		here, err := netns.Get()
		require.NoError(t, err)
		defer here.Close()
		router, err := netns.New()
		require.NoError(t, err)
		defer router.Close()
		sysctl(t, "net/ipv4/ip_forward", "1")
		require.NoError(t, netlink.RouteAdd(&netlink.Route{Dst: prefix("10.9.2.0/24"), Type: syscall.RTN_UNREACHABLE}))

		require.NoError(t, netns.Set(here))
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "up"}, PeerName: "down", PeerNamespace: netlink.NsFd(router)}
		require.NoError(t, netlink.LinkAdd(veth))
		address(t, "up", "10.9.1.1/24")
		require.NoError(t, netns.Set(router))
		address(t, "down", "10.9.1.2/24")
		require.NoError(t, netns.Set(here))
		require.NoError(t, netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP("10.9.1.2")}))
		sysctl(t, "net/ipv4/neigh/up/retrans_time_ms", "10")
		test()
	})
}

func prefix(text string) *net.IPNet {
	_, p, _ := net.ParseCIDR(text)
	return p
}

func address(t *testing.T, link, text string) {
	l, err := netlink.LinkByName(link)
	require.NoError(t, err)
	a, err := netlink.ParseAddr(text)
	require.NoError(t, err)
	require.NoError(t, netlink.AddrAdd(l, a))
	require.NoError(t, netlink.LinkSetUp(l))
}

// What the network says of a host that cannot be reached ends a probe at once, whatever the kind of probe. Of a datagram
// socket the kernel reports that only because it was asked to.
func TestUnreachable(t *testing.T) {
	for _, row := range []struct {
		kind   string
		prober Prober
		groups string // who may open ping sockets
	}{
		{"tcp", TCP{}, "1 0"}, {"udp", UDP{}, "1 0"}, {"http", web("/"), "1 0"},
		{"icmp by raw socket", ICMP{}, "1 0"}, {"icmp by ping socket", ICMP{}, allGroups},
	} {
		t.Run(row.kind, func(t *testing.T) { // each in namespaces of its own, as routers limit the rate of their errors
			neighbours(t, func() {
				sysctl(t, "net/ipv4/ping_group_range", row.groups)
				for why, address := range map[string]string{"a router says so": "10.9.2.5:80", "nobody answers ARP": "10.9.1.77:80"} {
					to := target(t, address, patient)
					to.Source = netip.MustParseAddr("10.9.1.1")
					got := row.prober.Probe(t.Context(), to)
					require.Equal(t, "unreachable|no route to host", got.Outcome.String()+"|"+got.Detail, why)
					require.Less(t, got.Latency, patient/2, why)
				}
			})
		})
	}
}

// A port of a host that lives, but on which nobody listens.
func TestUnreachablePortOfANeighbour(t *testing.T) {
	neighbours(t, func() {
		to := target(t, "10.9.1.2:9", patient)
		to.Source = netip.MustParseAddr("10.9.1.1")
		requireResult(t, Refused, "connection refused", UDP{}.Probe(t.Context(), to))
		requireResult(t, Refused, "connection refused", TCP{}.Probe(t.Context(), to))
		requireResult(t, Passed, "", ICMP{}.Probe(t.Context(), to))
	})
}

// Without a route the node says so itself, and where it forbids itself to send, nothing is learned of the member.
func TestRoutesOfTheNode(t *testing.T) {
	apart(t, func() {
		to := Target{Address: netip.MustParseAddrPort("10.9.9.9:80"), Timeout: patient}
		requireResult(t, Unreachable, "network unreachable", TCP{}.Probe(t.Context(), to))
		require.NoError(t, netlink.RouteAdd(&netlink.Route{Dst: prefix("10.9.9.0/24"), Type: syscall.RTN_PROHIBIT}))
		requireResult(t, NotProbed, "not probed: not permitted by this node: see its firewall", TCP{}.Probe(t.Context(), to))
	})
}

// A port that one connection has used serves for another member at once: as many members can be probed from one address as
// there are, not as many as there are ports.
func TestPortsAreNotUsedUp(t *testing.T) {
	apart(t, func() {
		var members []string
		for range 12 {
			members = append(members, answering(t, func(c net.Conn) { c.Read(make([]byte, 1)) }))
		}
		sysctl(t, "net/ipv4/ip_local_port_range", "20000 20003")
		for _, m := range members {
			requireResult(t, Passed, "", TCP{}.Probe(t.Context(), target(t, m, patient)))
		}
	})
}
