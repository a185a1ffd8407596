package netns

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Ping sends an echo request and waits for the reply, which it returns the TTL of.
func (m *Machine) Ping(to netip.Addr, timeout time.Duration) (ttl uint8, err error) {
	err = m.space.do(func() (err error) {
		ttl, err = ping(to, timeout)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("ping %v from %s: %w", to, m.Name, err)
	}
	return ttl, nil
}

const (
	echoReply, echoRequest = 0, 8
	echoHeader             = 8 // type, code, checksum, id, sequence
)

func ping(to netip.Addr, timeout time.Duration) (ttl uint8, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	wait := unix.NsecToTimeval((50 * time.Millisecond).Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return 0, err
	}
	id := uint16(os.Getpid())
	if err := unix.Sendto(fd, echo(id), 0, &unix.SockaddrInet4{Addr: to.As4()}); err != nil {
		return 0, err
	}
	buffer := make([]byte, 2048)
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if err != nil {
			continue // nothing came yet
		}
		if ttl, ok := reply(buffer[:n], to, id); ok {
			return ttl, nil
		}
	}
	return 0, os.ErrDeadlineExceeded
}

// echo is a request with its checksum (RFC 792).
func echo(id uint16) []byte {
	b := make([]byte, echoHeader+32)
	b[0] = echoRequest
	binary.BigEndian.PutUint16(b[4:], id)
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
