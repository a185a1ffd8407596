package simhost_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"hpnn/testbed/simhost"
)

// kernel is the network stack of Linux in a namespace of its own, with one card that ends in
// this process. To a World it is a switch.
type kernel struct {
	t  *testing.T
	ns netns.NsHandle
	f  *os.File
}

const kernelPort = 1 // where the kernel is, and the hosts

var kernelAddress = netip.MustParsePrefix("10.0.0.1/24")

// newKernel makes the namespace and the card, or skips the test.
func newKernel(t *testing.T) *kernel {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a network namespace")
	}
	k := &kernel{t: t}
	if err := k.open(); err != nil {
		t.Skipf("needs a network namespace with a tap device: %v", err)
	}
	t.Cleanup(func() {
		k.f.Close()
		k.ns.Close()
	})
	return k
}

func (k *kernel) open() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return err
	}
	defer home.Close()
	defer netns.Set(home)
	if k.ns, err = netns.New(); err != nil {
		return err
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	request, err := unix.NewIfreq("tap0")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return err
	}
	k.f = os.NewFile(uintptr(fd), "tap0")
	link, err := netlink.LinkByName("tap0")
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr(kernelAddress.String())
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// Receive gives the kernel a frame.
func (k *kernel) Receive(_ time.Duration, _ uint32, frame []byte, _ func(uint32, []byte)) {
	k.f.Write(frame)
}

// pump gives the world what the kernel sends.
func (k *kernel) pump(w *simhost.World) {
	buffer := make([]byte, 65536)
	for {
		n, err := k.f.Read(buffer)
		if err != nil {
			return
		}
		frame := bytes.Clone(buffer[:n])
		w.Post(func() { w.Output(kernelPort, frame) })
	}
}

// inside calls f in the kernel's namespace.
func (k *kernel) inside(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	require.NoError(k.t, err)
	defer home.Close()
	require.NoError(k.t, netns.Set(k.ns))
	defer netns.Set(home)
	f()
}

func (k *kernel) dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	k.inside(func() { c, err = (&net.Dialer{}).DialContext(ctx, network, address) })
	return c, err
}

func (k *kernel) client() *http.Client {
	transport := &http.Transport{DialContext: k.dial}
	k.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

func (k *kernel) serve(handler http.Handler) {
	var l net.Listener
	var err error
	k.inside(func() { l, err = net.Listen("tcp", "10.0.0.1:80") })
	require.NoError(k.t, err)
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	k.t.Cleanup(func() { server.Close() })
}

// against makes a world with a host and the kernel, in real time.
func against(t *testing.T) (*kernel, *bed, *simhost.Host) {
	k := newKernel(t)
	b := newBed(t, simhost.Config{Switch: k})
	h, err := b.Add(simhost.HostConfig{
		Name: "sim", Port: kernelPort, MAC: [6]byte{2, 0, 0, 0, 0, 2}, Address: netip.MustParsePrefix("10.0.0.2/24"),
	})
	require.NoError(t, err)
	go k.pump(b.World)
	live(t, b)
	return k, b, h
}

// get requests a URL from the host and waits for the answer.
func get(t *testing.T, b *bed, h *simhost.Host, url string, o simhost.GetOptions) simhost.Result {
	t.Helper()
	results := make(chan simhost.Result, 1)
	b.Do(func() { h.Get(url, o, func(r simhost.Result) { results <- r }) })
	return <-results
}

func TestLinuxAsClient(t *testing.T) {
	t.Parallel()
	k, b, h := against(t)
	b.Do(func() {
		web, err := h.ServeWeb(80)
		require.NoError(t, err)
		web.Handle("/size", func(x *simhost.Exchange) { x.Reply(200, fmt.Sprint(len(x.Body))) })
		web.Handle("/medium", func(x *simhost.Exchange) { x.Reply(200, string(make([]byte, 100_000))) })
		web.Handle("/big", func(x *simhost.Exchange) { x.Reply(200, string(make([]byte, 1<<20))) })
	})
	c := k.client()
	require.Contains(t, fetch(t, c, "http://10.0.0.2/"), "backend=sim  time=2026-08-17 15:00:0")
	require.Contains(t, fetch(t, c, "http://10.0.0.2/slow?seconds=1"), "tick 1/1")
	for range 20 {
		require.Equal(t, "ok\n", fetch(t, c, "http://10.0.0.2/healthz"))
	}
	require.Len(t, fetch(t, c, "http://10.0.0.2/big"), 1<<20)
	r, err := c.Post("http://10.0.0.2/size", "text/plain", bytes.NewReader(make([]byte, 1<<20)))
	require.NoError(t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "1048576", string(body))
	r.Body.Close()

	b.Do(func() { require.NoError(t, h.SetFaults(simhost.Faults{Loss: 0.02, Reorder: 0.02, Duplicate: 0.02})) })
	require.Len(t, fetch(t, c, "http://10.0.0.2/medium"), 100_000)
	b.Do(func() { require.NoError(t, h.SetFaults(simhost.Faults{})) })

	_, err = k.dial(t.Context(), "tcp", "10.0.0.2:81")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	conn, err := k.dial(t.Context(), "tcp", "10.0.0.2:80")
	require.NoError(t, err)
	time.AfterFunc(50*time.Millisecond, func() { b.Do(h.Kill) })
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	b.Do(func() { require.Empty(t, b.wrong) })
}

func TestLinuxAsServer(t *testing.T) {
	t.Parallel()
	k, b, h := against(t)
	k.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		size := 1 << 20
		if r.URL.Path == "/medium" {
			size = 100_000
		}
		w.Write(make([]byte, size))
	}))
	r := get(t, b, h, "http://10.0.0.1/", simhost.GetOptions{})
	require.NoError(t, r.Err)
	require.Len(t, r.Body, 1<<20)
	for i := range 5 {
		r = get(t, b, h, "http://10.0.0.1/", simhost.GetOptions{KeepAlive: simhost.Reusable, Body: make([]byte, 100_000), Method: "POST"})
		require.NoError(t, r.Err)
		require.Equal(t, i > 0, r.Reused)
	}
	r = get(t, b, h, "http://10.0.0.1/abort", simhost.GetOptions{})
	require.Error(t, r.Err)
	r = get(t, b, h, "http://10.0.0.1:81/", simhost.GetOptions{})
	require.ErrorIs(t, r.Err, simhost.ErrRefused)

	pings := make(chan simhost.PingResult, 1)
	b.Do(func() { h.Ping(kernelAddress.Addr(), simhost.PingOptions{}, func(r simhost.PingResult) { pings <- r }) })
	p := <-pings
	require.NoError(t, p.Err)
	require.EqualValues(t, 64, p.TTL)

	b.Do(func() { require.NoError(t, h.SetFaults(simhost.Faults{Loss: 0.02, Reorder: 0.02, Duplicate: 0.02})) })
	r = get(t, b, h, "http://10.0.0.1/medium", simhost.GetOptions{})
	require.NoError(t, r.Err)
	require.Len(t, r.Body, 100_000)
	b.Do(func() { require.Empty(t, b.wrong) })
}
