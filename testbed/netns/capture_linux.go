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

// keepFrames is how many frames of each port are kept, the newest.
const keepFrames = 4000

// capture keeps the newest frames that pass a port of the switch.
type capture struct {
	socket *os.File
	done   chan struct{}

	mu   sync.Mutex
	ring []Frame
	next int // where the oldest is, once the ring is full
}

// Frame is a frame that passed a port of the switch.
type Frame struct {
	At   time.Time
	Way  Way
	Data []byte
}

// Way is where a frame went.
type Way uint8

// Possible ways.
const (
	In  Way = iota + 1 // to the switch
	Out                // to the machine
)

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

// run reads until the socket is closed.
func (c *capture) run() {
	defer close(c.done)
	conn, err := c.socket.SyscallConn()
	if err != nil {
		return
	}
	buffer := make([]byte, 1<<16)
	for err == nil {
		err = conn.Read(func(fd uintptr) bool { return c.receive(int(fd), buffer) })
	}
}

// receive takes what is there. It returns false when nothing is, to wait for more.
func (c *capture) receive(fd int, buffer []byte) (tookAny bool) {
	for {
		n, from, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EAGAIN) {
			return tookAny
		}
		tookAny = true // an error is one too: the device went down, and may come up again
		if err != nil {
			continue
		}
		f := Frame{At: time.Now(), Way: In, Data: append([]byte(nil), buffer[:n]...)}
		if link, ok := from.(*unix.SockaddrLinklayer); ok && link.Pkttype == unix.PACKET_OUTGOING {
			f.Way = Out
		}
		c.keep(f)
	}
}

func (c *capture) keep(f Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ring) < keepFrames {
		c.ring = append(c.ring, f)
		return
	}
	c.ring[c.next] = f
	c.next = (c.next + 1) % keepFrames
}

// frames are those that were kept, oldest first.
func (c *capture) frames() []Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(append([]Frame(nil), c.ring[c.next:]...), c.ring[:c.next]...)
}

func (c *capture) close() {
	if c != nil {
		_ = c.socket.Close()
		<-c.done
	}
}

// Frames are the newest frames at a machine's port of the switch, both ways, oldest first.
func (b *Bed) Frames(m *Machine) []Frame { return b.captures[m.Port].frames() }

// writeCaptures writes two files for each port with a cable: in/PORT.pcap and out/PORT.pcap.
func (b *Bed) writeCaptures(dir string) (err error) {
	for way, name := range map[Way]string{In: "in", Out: "out"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
		for port, c := range b.captures {
			if c != nil {
				err = errors.Join(err, writeCapture(filepath.Join(dir, name, port+".pcap"), c.frames(), way))
			}
		}
	}
	return err
}

func writeCapture(path string, frames []Frame, way Way) error {
	w, err := pcap.Create(path)
	if err != nil {
		return err
	}
	for _, f := range frames {
		if f.Way != way {
			continue
		}
		if err := w.Write(pcap.Record{Time: f.At.UnixNano(), Data: f.Data}); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
