package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hpnn/internal/pcap"
)

const (
	keepFrames = 4000 // of each port, the newest
	keepBytes  = 256  // of each frame
)

// capture keeps the newest frames that pass a port of the switch, in both directions.
type capture struct {
	socket *os.File
	done   chan struct{}

	mu   sync.Mutex
	ring []pcap.Record
	next int // where the oldest is, once the ring is full
}

// capture begins to listen on a device of the namespace (packet(7)).
func (s *space) capture(name string) (*capture, error) {
	link, err := s.handle.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("capture on %s: %w", name, err)
	}
	c := &capture{done: make(chan struct{})}
	err = s.do(func() error {
		c.socket, err = listen(name, link.Attrs().Index)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("capture on %s: %w", name, err)
	}
	go c.run()
	return c, nil
}

func listen(name string, index int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (c *capture) run() {
	defer close(c.done)
	buffer := make([]byte, pcap.MaxFrame)
	for {
		n, err := c.socket.Read(buffer)
		switch {
		case err == nil:
			c.keep(buffer[:n], time.Now())
		case errors.Is(err, unix.ENETDOWN): // the device went down; it may come up again
		default:
			return
		}
	}
}

func (c *capture) keep(frame []byte, at time.Time) {
	r := pcap.Record{Time: at.UnixNano(), Data: append([]byte(nil), frame[:min(len(frame), keepBytes)]...), OrigLen: len(frame)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ring) < keepFrames {
		c.ring = append(c.ring, r)
		return
	}
	c.ring[c.next] = r
	c.next = (c.next + 1) % keepFrames
}

// frames are those that were kept, oldest first.
func (c *capture) frames() []pcap.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(append([]pcap.Record(nil), c.ring[c.next:]...), c.ring[:c.next]...)
}

func (c *capture) close() {
	if c != nil {
		_ = c.socket.Close()
		<-c.done
	}
}

// Frames are the newest frames of both directions at a machine's port of the switch, cut to their first 256 bytes,
// oldest first.
func (b *Bed) Frames(m *Machine) []pcap.Record { return b.captures[m.Port].frames() }

// writeCaptures writes a file PORT.pcap for each port with a cable.
func (b *Bed) writeCaptures(dir string) (err error) {
	for port, c := range b.captures {
		if c != nil {
			err = errors.Join(err, writeCapture(filepath.Join(dir, port+".pcap"), c.frames()))
		}
	}
	return err
}

func writeCapture(path string, frames []pcap.Record) error {
	w, err := pcap.Create(path)
	if err != nil {
		return err
	}
	for _, f := range frames {
		if err := w.Write(f); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
