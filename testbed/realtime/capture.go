//go:build linux

package realtime

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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

// Receiver hands over the frames of a socket, each with whether it left by the device or came in. The bytes are the taker's.
type Receiver struct {
	conn syscall.RawConn
	done chan struct{}

	mu     sync.Mutex // one takes frames at a time, so that they keep their order
	buffer []byte
	take   func(frame []byte, sent bool)
}

// Receive begins to hand over what a socket hears, until the socket is closed.
func Receive(socket *os.File, take func(frame []byte, sent bool)) (*Receiver, error) {
	conn, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &Receiver{conn: conn, done: make(chan struct{}), buffer: make([]byte, 1<<16), take: take}
	go func() {
		defer close(r.done)
		for err := error(nil); err == nil; {
			err = conn.Read(r.receive)
		}
	}()
	return r, nil
}

// Flush returns once all frames are handed over that the device had seen before it was called.
func (r *Receiver) Flush() { _ = r.conn.Control(func(fd uintptr) { r.receive(fd) }) }

// Wait returns when the socket was closed and nothing is handed over any more.
func (r *Receiver) Wait() { <-r.done }

// receive takes what is there. It returns false when nothing is, to wait for more.
func (r *Receiver) receive(fd uintptr) (tookAny bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		n, from, err := unix.Recvfrom(int(fd), r.buffer, 0)
		if errors.Is(err, unix.EAGAIN) {
			return tookAny
		}
		tookAny = true // an error is one too: the device went down, and may come up again
		if err != nil {
			continue
		}
		link, _ := from.(*unix.SockaddrLinklayer)
		r.take(append([]byte(nil), r.buffer[:n]...), link != nil && link.Pkttype == unix.PACKET_OUTGOING)
	}
}

// capture listens at a machine's card.
type capture struct {
	socket   *os.File
	receiver *Receiver
}

func startCapture(m Machine, now func() time.Duration, take func(testbed.Heard)) (*capture, error) {
	c := &capture{}
	err := m.Enter(func() (err error) {
		c.socket, err = Listen(m.Device())
		return err
	})
	if err != nil {
		return nil, err
	}
	name := m.About().Name
	c.receiver, err = Receive(c.socket, func(frame []byte, sent bool) {
		take(testbed.Heard{At: now(), Host: name, Sent: sent, Frame: frame})
	})
	if err != nil {
		return nil, errors.Join(err, c.socket.Close())
	}
	return c, nil
}

func (c *capture) close() {
	_ = c.socket.Close()
	c.receiver.Wait()
}

// cards are sockets to send frames by, of machines by name.
type cards map[string]*os.File

// transmit sends a frame from a machine's card.
func (c cards) transmit(m Machine, frame []byte) error {
	name := m.About().Name
	if card := c[name]; card != nil {
		if _, err := card.Write(frame); err == nil {
			return nil
		}
		_ = card.Close() // the machine may have another by now
		delete(c, name)
	}
	var fd int
	err := m.Enter(func() (err error) {
		fd, err = socket(m.Device(), 0)
		return err
	})
	if err != nil {
		return err
	}
	c[name] = os.NewFile(uintptr(fd), m.Device())
	_, err = c[name].Write(frame)
	return err
}

func (c cards) close() {
	for _, card := range c {
		_ = card.Close()
	}
}
