//go:build linux

package realtime

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"hpnn/internal/packet"
	"hpnn/testbed"
)

// Listen opens a socket for all frames of a device (packet(7)), in the caller's namespace.
func Listen(device string) (*os.File, error) {
	fd, err := socket(device, unix.ETH_P_ALL)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), device), nil
}

// socket opens a packet socket on a device. With protocol 0 it hears nothing.
func socket(device string, protocol uint16) (fd int, err error) {
	card, err := net.InterfaceByName(device)
	if err != nil {
		return -1, err
	}
	if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return -1, err
	}
	network := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, protocol))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: network, Ifindex: card.Index}); err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// Receive hands over frames until the socket is closed, and whether each left by the device or came in. The bytes are the
// caller's.
func Receive(socket *os.File, take func(frame []byte, sent bool)) {
	conn, err := socket.SyscallConn()
	if err != nil {
		return
	}
	buffer := make([]byte, 1<<16)
	for err == nil {
		err = conn.Read(func(fd uintptr) bool { return receive(int(fd), buffer, take) })
	}
}

// receive takes what is there. It returns false when nothing is, to wait for more.
func receive(fd int, buffer []byte, take func(frame []byte, sent bool)) (tookAny bool) {
	for {
		n, from, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EAGAIN) {
			return tookAny
		}
		tookAny = true // an error is one too: the device went down, and may come up again
		if err != nil {
			continue
		}
		link, _ := from.(*unix.SockaddrLinklayer)
		take(append([]byte(nil), buffer[:n]...), link != nil && link.Pkttype == unix.PACKET_OUTGOING)
	}
}

// capture listens at a machine's card.
type capture struct {
	socket *os.File
	done   chan struct{}
}

func startCapture(m Machine, now func() time.Duration, take func(testbed.Heard)) (*capture, error) {
	c := &capture{done: make(chan struct{})}
	err := m.Enter(func() (err error) {
		c.socket, err = Listen(m.Device())
		return err
	})
	if err != nil {
		return nil, err
	}
	name := m.About().Name
	go func() {
		defer close(c.done)
		Receive(c.socket, func(frame []byte, sent bool) {
			take(testbed.Heard{At: now(), Host: name, Sent: sent, Frame: frame})
		})
	}()
	return c, nil
}

func (c *capture) close() {
	_ = c.socket.Close()
	<-c.done
}

// transmit sends a frame from a machine's card.
func transmit(m Machine, frame []byte) error {
	return m.Enter(func() error {
		fd, err := socket(m.Device(), 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.Write(fd, packet.Pad(frame))
		return err
	})
}
