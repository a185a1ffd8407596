package docker

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// space is the network namespace of a running container.
type space struct {
	name   string // of the container
	ns     netns.NsHandle
	handle *netlink.Handle
}

// enter opens the namespace of a container's first process.
func enter(container string, pid int) (*space, error) {
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return nil, fmt.Errorf("open the namespace of %s: %w (root is needed)", container, err)
	}
	handle, err := netlink.NewHandleAt(ns)
	if err != nil {
		_ = ns.Close()
		return nil, fmt.Errorf("enter the namespace of %s: %w (root is needed)", container, err)
	}
	return &space{container, ns, handle}, nil
}

func (s *space) close() {
	s.handle.Close()
	_ = s.ns.Close()
}

// do calls f on a thread that is in the namespace. Sockets that f opens stay there.
func (s *space) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if err := netns.Set(s.ns); err != nil {
			done <- fmt.Errorf("enter the namespace of %s: %w", s.name, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// dial connects from the container; the address is a literal one.
func (s *space) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = s.do(func() (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// client makes a client in the container. Each request has a connection of its own and takes timeout at most.
func (s *space) client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: s.dial, DisableKeepAlives: true}}
}

// quiet turns IPv6 off: the node speaks IPv4, and neighbour discovery would only fill its counters. It turns forwarding off,
// which a new namespace has from the host, and Docker's hosts forward: the node's kernel sees what comes by an interface with
// the gateway's MAC, and would route it past all rules.
func (s *space) quiet() error {
	return s.do(func() error {
		for _, name := range []string{"all", "default"} {
			_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o644) // only noise if it stays
		}
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("0"), 0o644); err != nil {
			return fmt.Errorf("keep the kernel of %s from forwarding: %w", s.name, err)
		}
		return nil
	})
}

// remove removes a device if it is there.
func (s *space) remove(device string) error {
	link, err := s.handle.LinkByName(device)
	if err != nil {
		return nil //nolint:nilerr // it is not there
	}
	if err := s.handle.LinkDel(link); err != nil {
		return fmt.Errorf("remove %s in %s: %w", device, s.name, err)
	}
	return nil
}

// raise brings a device up with its offloads off: the userspace datapath takes frames as they are, and a checksum that
// hardware was to fill in is wrong.
func (s *space) raise(device string) error {
	if err := s.do(func() error { return offloadsOff(device) }); err != nil {
		return fmt.Errorf("turn the offloads of %s in %s off: %w", device, s.name, err)
	}
	return s.up(device)
}

func (s *space) up(device string) error {
	link, err := s.handle.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s in %s: %w", device, s.name, err)
	}
	if err := s.handle.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s in %s up: %w", device, s.name, err)
	}
	return nil
}

func (s *space) down(device string) error {
	link, err := s.handle.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s in %s: %w", device, s.name, err)
	}
	if err := s.handle.LinkSetDown(link); err != nil {
		return fmt.Errorf("bring %s in %s down: %w", device, s.name, err)
	}
	return nil
}

// ethtoolValue is struct ethtool_value of linux/ethtool.h.
type ethtoolValue struct{ command, data uint32 }

// ethtoolRequest is struct ifreq with a pointer in its union.
type ethtoolRequest struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte // the rest of the union
}

func offloadsOff(device string) error {
	for _, command := range []uint32{unix.ETHTOOL_STSO, unix.ETHTOOL_SGSO, unix.ETHTOOL_SGRO, unix.ETHTOOL_SSG, unix.ETHTOOL_STXCSUM} {
		if _, err := ethtool(device, command); err != nil {
			return err
		}
	}
	return nil
}

// fillsChecksums tells whether a device of this thread's namespace leaves no checksum to hardware.
func fillsChecksums(device string) bool {
	on, err := ethtool(device, unix.ETHTOOL_GTXCSUM)
	return err == nil && on == 0
}

// ethtool does or asks one thing; it sets 0.
func ethtool(device string, command uint32) (uint32, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	value := ethtoolValue{command: command}
	request := ethtoolRequest{data: unsafe.Pointer(&value)}
	copy(request.name[:unix.IFNAMSIZ-1], device)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return 0, fmt.Errorf("ethtool command %#x: %w", command, errno)
	}
	return value.data, nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
