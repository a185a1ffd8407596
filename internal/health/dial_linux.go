package health

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

const bindAddressNoPort = 24 // IP_BIND_ADDRESS_NO_PORT, ip(7)

// tune sets what probes need of a socket. A kernel that does not know an option leaves the probe as good as without it.
//
// A socket that is bound to an address gets its port at once, and no other probe gets that port while it is in TIME_WAIT: a
// thousand members would use up all ports in a minute. Told so, the kernel chooses the port when the socket connects, and
// one port serves for many members.
//
// Of a datagram socket the kernel reports only the ICMP errors it takes for final, and a host unreachable is none of them.
// Asked for it (IP_RECVERR, ip(7)), it reports all.
func tune(network, _ string, c syscall.RawConn) error {
	option := syscall.IP_RECVERR
	switch {
	case strings.HasSuffix(network, "6"):
		return nil
	case strings.HasPrefix(network, "tcp"):
		option = bindAddressNoPort
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, option, 1)
	})
}

// dialICMP opens a ping socket (icmp(7)), which needs no privilege where the system allows it, or else a raw one.
func dialICMP(ctx context.Context, d net.Dialer, source netip.Addr, remote string) (net.Conn, error) {
	to, err := netip.ParseAddr(remote)
	if err != nil || !to.Is4() {
		return nil, fmt.Errorf("dial icmp %s: not an IPv4 address", remote)
	}
	conn, err := dialPing(source, to)
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EPROTONOSUPPORT) {
		return dialRaw(ctx, d, source, remote)
	}
	return conn, err
}

func dialPing(source, to netip.Addr) (net.Conn, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, syscall.IPPROTO_ICMP)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "ping "+to.String())
	defer file.Close()                                                       // the connection has a descriptor of its own
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_RECVERR, 1) // see tune
	if source.Is4() {
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: source.As4()}); err != nil {
			return nil, os.NewSyscallError("bind", err)
		}
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Addr: to.As4()}); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	return net.FileConn(file)
}
