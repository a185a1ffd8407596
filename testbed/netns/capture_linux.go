package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hpnn/internal/pcap"
	"hpnn/testbed/realtime"
)

// keepFrames is how many frames of each port are kept, the newest.
const keepFrames = 4000

// capture keeps the newest frames that pass a port of the switch.
type capture struct {
	socket   *os.File
	receiver *realtime.Receiver

	mu     sync.Mutex
	newest ring
}

// ring keeps the newest frames that it is given.
type ring struct {
	kept []Frame
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

// capture begins to listen on a device of the namespace.
func (s *space) capture(name string) (*capture, error) {
	c := &capture{}
	err := s.do(func() (err error) {
		c.socket, err = realtime.Listen(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("capture on %s: %w", name, err)
	}
	c.receiver, err = realtime.Receive(c.socket, func(frame []byte, sent bool) {
		f := Frame{At: time.Now(), Way: In, Data: frame}
		if sent {
			f.Way = Out
		}
		c.keep(f)
	})
	if err != nil {
		return nil, errors.Join(err, c.socket.Close())
	}
	return c, nil
}

func (c *capture) keep(f Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest.add(f)
}

// frames are those that were kept, oldest first, up to the newest that has passed.
func (c *capture) frames() []Frame {
	c.receiver.Flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest.frames()
}

func (r *ring) add(f Frame) {
	if len(r.kept) < keepFrames {
		r.kept = append(r.kept, f)
		return
	}
	r.kept[r.next] = f
	r.next = (r.next + 1) % keepFrames
}

// frames are those that were kept, oldest first.
func (r *ring) frames() []Frame {
	return append(append([]Frame(nil), r.kept[r.next:]...), r.kept[:r.next]...)
}

func (c *capture) close() {
	if c != nil {
		_ = c.socket.Close()
		c.receiver.Wait()
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
