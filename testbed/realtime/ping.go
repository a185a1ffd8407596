//go:build linux

package realtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hpnn/testbed"
)

// Ping implements testbed.Hosts.
func (h *hosts) Ping(name string, to netip.Addr, o testbed.PingOptions) (testbed.Request, error) {
	m, err := h.find(name)
	if err != nil {
		return nil, err
	}
	r := &request{}
	go func() {
		ttl, err := Ping(m.Enter, to, o)
		r.note(func(a *testbed.Answer) { a.TTL = ttl })
		r.end(err)
		h.bed.came()
	}()
	return r, nil
}

const (
	echoReply, echoRequest = 0, 8
	echoHeader             = 8  // type, code, checksum, id, sequence
	echoPayload            = 56 // as ping(8) has it
	pingTimeout            = time.Second
)

// echoes counts them, so that each bears another id.
var echoes atomic.Uint32

// Ping sends an echo request from where enter leads, and waits for the reply, which it returns the TTL of.
func Ping(enter func(func() error) error, to netip.Addr, o testbed.PingOptions) (ttl uint8, err error) {
	if o.Timeout == 0 {
		o.Timeout = pingTimeout
	}
	err = enter(func() (err error) {
		ttl, err = ping(to, o)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("ping %v: %w", to, err)
	}
	return ttl, nil
}

func ping(to netip.Addr, o testbed.PingOptions) (ttl uint8, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	wait := unix.NsecToTimeval((20 * time.Millisecond).Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return 0, err
	}
	if o.TTL != 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, int(o.TTL)); err != nil {
			return 0, err
		}
	}
	id := uint16(echoes.Add(1))
	if err := unix.Sendto(fd, echo(id), 0, &unix.SockaddrInet4{Addr: to.As4()}); err != nil {
		return 0, err
	}
	buffer := make([]byte, 2048)
	for deadline := time.Now().Add(o.Timeout); time.Now().Before(deadline); {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue // nothing came yet
		}
		if err != nil {
			return 0, err
		}
		if ttl, ok := reply(buffer[:n], to, id); ok {
			return ttl, nil
		}
	}
	return 0, syscall.ETIMEDOUT
}

// echo is a request with its checksum (RFC 792).
func echo(id uint16) []byte {
	b := make([]byte, echoHeader+echoPayload)
	b[0] = echoRequest
	binary.BigEndian.PutUint16(b[4:], id)
	binary.BigEndian.PutUint16(b[6:], 1)
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(b[2:], ^uint16(sum+sum>>16))
	return b
}

// reply tells whether a packet, from its IPv4 header, answers the request.
func reply(b []byte, from netip.Addr, id uint16) (ttl uint8, ok bool) {
	if len(b) < 20 || netip.AddrFrom4([4]byte(b[12:16])) != from {
		return 0, false
	}
	message := b[int(b[0]&15)*4:]
	if len(message) < echoHeader || message[0] != echoReply || binary.BigEndian.Uint16(message[4:]) != id {
		return 0, false
	}
	return b[8], true
}
