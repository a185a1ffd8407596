package simswitch

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

// stand is a switch in a network namespace of its own. Ports 1 and 2 are on devices whose wire the test holds; port 3 is internal.
type stand struct {
	t     *testing.T
	sw    *Switch
	log   logText
	wires map[openflow.PortNo]*wire
}

// wire is what a device sends to and hears of, byte for byte.
type wire struct {
	t *testing.T
	f *os.File
}

func newWire(t *testing.T, device string) *wire {
	w, err := openTap(device)
	require.NoError(t, err)
	f := os.NewFile(uintptr(w.fd), device)
	t.Cleanup(func() { _ = f.Close() })
	up(t, device)
	return &wire{t, f}
}

func (w *wire) send(frame []byte) {
	_, err := w.f.Write(frame)
	require.NoError(w.t, err)
}

// next waits for the next frame that the device has sent.
func (w *wire) next() []byte {
	require.NoError(w.t, w.f.SetReadDeadline(time.Now().Add(patience)))
	frame := make([]byte, maxFrame)
	n, err := w.f.Read(frame)
	require.NoError(w.t, err)
	return frame[:n]
}

// logText is what was logged.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const patience = 20 * time.Second

// newStand puts the test's thread into a new namespace, for good: the thread ends with the test.
func newStand(t *testing.T, rules string) *stand {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a network namespace")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("needs a network namespace: %v", err)
	}
	for _, which := range []string{"all", "default"} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0o644) // only noise if it stays
	}
	s := &stand{t: t, wires: map[openflow.PortNo]*wire{}}
	for _, p := range ports {
		if !p.Internal {
			s.wires[p.Number] = newWire(t, p.Name)
		}
	}
	var err error
	s.sw, err = New(ports, slog.New(slog.NewTextHandler(&s.log, nil)))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.sw.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	b, err := openflow.ParseBundle("rules", strings.NewReader(rules))
	require.NoError(t, err)
	require.NoError(t, s.sw.Bridge().Commit(t.Context(), b))
	return s
}

var ports = []Port{{Name: "port1", Number: 1}, {Name: "port2", Number: 2}, {Name: "own", Number: 3, Internal: true}}

func up(t *testing.T, name string) netlink.Link {
	link, err := netlink.LinkByName(name)
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetUp(link))
	return link
}

func (s *stand) port(n openflow.PortNo) datapath.Port {
	all, err := s.sw.Bridge().Ports(s.t.Context())
	require.NoError(s.t, err)
	for _, p := range all {
		if p.Number == n {
			return p
		}
	}
	return datapath.Port{}
}

var (
	near = packet.MAC{2, 0, 0, 0, 0, 1}
	far  = packet.MAC{2, 0, 0, 0, 0, 2}
)

// datagram is a frame between strangers, with n bytes of payload.
func datagram(n int) []byte {
	return packet.UDP{Eth: packet.Ether{Src: near, Dst: far}, SrcPort: 1, DstPort: 2, Payload: make([]byte, n),
		IP: packet.IP{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}}.Bytes()
}

const across = "flow add table=0,in_port=1,actions=output:2\nflow add table=0,in_port=2,actions=output:1"

func TestFramesPassUnchanged(t *testing.T) {
	s := newStand(t, across)
	for _, n := range []int{0, 1, 100, 1500 - 28} {
		f := datagram(n)
		s.wires[1].send(f)
		require.Equal(t, f, s.wires[2].next())
	}
	require.EqualValues(t, 4, s.port(1).RxFrames)

	other, err := openPacket("port2", nil) // somebody else on this host, such as its kernel
	require.NoError(t, err)
	defer unix.Close(other.fd)
	_, err = unix.Write(other.fd, datagram(5))
	require.NoError(t, err)
	require.Equal(t, datagram(5), s.wires[2].next())
	s.wires[2].send(datagram(6))
	require.Equal(t, datagram(6), s.wires[1].next())
	require.EqualValues(t, 1, s.port(2).RxFrames, "what leaves by a port does not come in by it")
	require.Empty(t, s.log.String())
}

// The kernel takes tags out of frames that come in. The switch must see them, and they must leave.
func TestTagsAreSeenAndLeave(t *testing.T) {
	s := newStand(t, "flow add table=0,dl_vlan=7,dl_vlan_pcp=5,actions=output:2\nflow add table=0,dl_vlan=8,actions=strip_vlan,output:2")
	for tpid, n := range map[uint16]int{0x8100: 1500 - 28, 0x88a8: 1496 - 28} { // devices have room for a tag of the first kind only
		f := datagram(n)
		tagged := slices.Concat(f[:12], binary.BigEndian.AppendUint16(nil, tpid), []byte{5 << 5, 7}, f[12:])
		s.wires[1].send(tagged)
		require.Equal(t, tagged, s.wires[2].next())
		tagged[15] = 8
		s.wires[1].send(tagged)
		require.Equal(t, f, s.wires[2].next())
	}
}

// What a device does not take is lost, and nothing else.
func TestWhatCannotLeaveIsLost(t *testing.T) {
	s := newStand(t, across)
	s.wires[1].send(datagram(1600)) // longer than the MTU
	s.wires[1].send(datagram(5))
	require.Equal(t, datagram(5), s.wires[2].next())

	port, err := netlink.LinkByName("port2")
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetDown(port))
	s.wires[1].send(datagram(6))
	require.Eventually(t, func() bool { return s.port(1).RxFrames == 3 }, patience, time.Millisecond)
	require.NoError(t, netlink.LinkSetUp(port))
	s.wires[1].send(datagram(7))
	require.Equal(t, datagram(7), s.wires[2].next())
	s.wires[2].send(datagram(8)) // the port hears again
	require.Equal(t, datagram(8), s.wires[1].next())
}

// The host speaks by an internal port, with right checksums.
func TestHostSpeaksByItsOwnPort(t *testing.T) {
	s := newStand(t, "flow add table=0,in_port=3,actions=output:2\nflow add table=0,in_port=2,actions=output:3")
	mac := knowNeighbour(t, "own")
	conn, err := net.ListenPacket("udp4", "10.0.0.1:5")
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.WriteTo([]byte("hello"), &net.UDPAddr{IP: net.IP{10, 0, 0, 2}, Port: 6})
	require.NoError(t, err)
	f := s.wires[2].next()
	require.NoError(t, packet.Verify(f))
	require.Contains(t, string(f), "hello")

	s.wires[2].send(packet.UDP{Eth: packet.Ether{Src: far, Dst: mac}, SrcPort: 6, DstPort: 5, Payload: []byte("answer"),
		IP: packet.IP{Src: netip.MustParseAddr("10.0.0.2"), Dst: netip.MustParseAddr("10.0.0.1")}}.Bytes())
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	buffer := make([]byte, 100)
	n, _, err := conn.ReadFrom(buffer)
	require.NoError(t, err)
	require.Equal(t, "answer", string(buffer[:n]))
}

// knowNeighbour gives the kernel the address 10.0.0.1 on a device, and the way to 10.0.0.2. It returns the device's MAC.
func knowNeighbour(t *testing.T, device string) packet.MAC {
	link := up(t, device)
	address, err := netlink.ParseAddr("10.0.0.1/24")
	require.NoError(t, err)
	require.NoError(t, netlink.AddrAdd(link, address))
	neighbour := &netlink.Neigh{LinkIndex: link.Attrs().Index, IP: net.IP{10, 0, 0, 2}, HardwareAddr: far[:], State: netlink.NUD_PERMANENT}
	require.NoError(t, netlink.NeighAdd(neighbour))
	return packet.MAC(link.Attrs().HardwareAddr)
}

// A sender whose hardware was to fill in checksums is told of, once.
func TestMissingChecksumsAreToldOf(t *testing.T) {
	newStand(t, "") // for its namespace
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "card"
	require.NoError(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: "cable"}))
	up(t, "cable")
	knowNeighbour(t, "card")
	warnings := 0
	socket, err := openPacket("cable", func(string) { warnings++ })
	require.NoError(t, err)
	defer unix.Close(socket.fd)
	conn, err := net.Dial("udp4", "10.0.0.2:6")
	require.NoError(t, err)
	defer conn.Close()
	for range 2 {
		_, err = conn.Write([]byte("hello"))
		require.NoError(t, err)
		f, err := socket.read()
		require.NoError(t, err)
		require.Error(t, packet.Verify(f))
	}
	require.Equal(t, 1, warnings)
}

// Who watches hears what became of each frame, and of each that did not leave, why.
func TestWatchersHearWhatBecameOfFrames(t *testing.T) {
	s := newStand(t, "flow add table=0,in_port=1,actions=output:2,output:3\n"+
		"flow add table=0,priority=7,in_port=2,udp,actions=goto_table:1\nflow add table=1,priority=9,udp,actions=drop")
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.sw.Report(ctx, l) }()
	defer func() {
		cancel()
		require.NoError(t, <-ended)
	}()
	type report struct {
		in  datapath.Injection
		out []datapath.Output
		v   simbackend.Verdict
	}
	reports := make(chan report, 10)
	w, err := Watch(socket, func(in datapath.Injection, out []datapath.Output, v simbackend.Verdict) {
		reports <- report{in, out, v}
	})
	require.NoError(t, err)
	defer w.Close()

	f := datagram(1)
	s.wires[1].send(f)
	r := <-reports
	require.Equal(t, datapath.Injection{InPort: 1, Frame: f}, r.in)
	require.Equal(t, []datapath.Output{{Port: 2, Frame: f}, {Port: 3, Frame: f}}, r.out)
	require.Equal(t, 2, r.v.Outputs)

	s.wires[2].send(f)
	r = <-reports
	require.Empty(t, r.out)
	require.True(t, r.v.Matched)
	require.Equal(t, openflow.TableID(1), r.v.Table)
	require.Equal(t, "table=1, priority=9,udp actions=drop", r.v.Flow.String())

	f = bytes.Clone(f)
	f[12], f[13] = 0x88, 0xcc
	s.wires[2].send(f)
	r = <-reports
	require.False(t, r.v.Matched)
	require.Equal(t, f, r.in.Frame)
}

func TestFlowsTimeOutByTheClockOnTheWall(t *testing.T) {
	s := newStand(t, "flow add table=0,hard_timeout=1,actions=drop")
	flows := func() int {
		all, err := s.sw.Bridge().Flows(t.Context())
		require.NoError(t, err)
		return len(all)
	}
	require.Equal(t, 1, flows())
	require.Eventually(t, func() bool { return flows() == 0 }, patience, 10*time.Millisecond)
}

func TestPacketsOfTheControllerLeave(t *testing.T) {
	s := newStand(t, "")
	in := datapath.Injection{InPort: 1, Frame: datagram(3)}
	require.NoError(t, s.sw.Bridge().PacketOut(t.Context(), in, []openflow.Action{openflow.Output{Port: 2}}))
	require.Equal(t, datagram(3), s.wires[2].next())
}

func TestWhatIsNoDeviceIsRefused(t *testing.T) {
	newStand(t, "") // for its namespace
	_, err := New([]Port{{Name: "none", Number: 1}}, slog.Default())
	require.ErrorContains(t, err, "open port none")
	_, err = New([]Port{{Name: "port1", Number: 1, Internal: true}}, slog.Default())
	require.ErrorContains(t, err, "open port port1", "the name is taken")
}
