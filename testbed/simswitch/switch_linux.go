package simswitch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// Port is a port of the switch and the network device behind it, which bears its name.
type Port struct {
	Name   string
	Number openflow.PortNo
	// Internal: the device is made by the switch, and the host sends and receives by it.
	Internal bool
}

// device is what frames of a port come in by. They leave by its file descriptor, too: one write, one frame.
type device interface {
	// read returns a frame, which is valid until the next call, or EAGAIN if none is there.
	read() ([]byte, error)
	descriptor() int
}

// port is a device at work.
type port struct {
	Port
	device device
	file   *os.File // has the descriptor
}

// Switch is the simulator among devices.
type Switch struct {
	sim   *simbackend.Switch
	began time.Time
	ports map[openflow.PortNo]*port
	log   *slog.Logger

	turn     sync.Mutex // of the port whose frame passes
	watchers watchers
}

// New makes a switch on devices of the caller's network namespace. Run lets frames through.
func New(ports []Port, log *slog.Logger) (*Switch, error) {
	var all []simbackend.Port
	for _, p := range ports {
		all = append(all, simbackend.Port{Number: p.Number, Name: p.Name})
	}
	sim, err := simbackend.New(simbackend.Config{Ports: all})
	if err != nil {
		return nil, err
	}
	s := &Switch{sim: sim, began: time.Now(), ports: map[openflow.PortNo]*port{}, log: log, watchers: watchers{all: map[*watcher]bool{}}}
	for _, p := range ports {
		if err := s.open(p); err != nil {
			s.close()
			return nil, fmt.Errorf("open port %s: %w", p.Name, err)
		}
	}
	sim.OnOutput(s.send)
	return s, nil
}

func (s *Switch) open(p Port) (err error) {
	var d device
	if p.Internal {
		d, err = openTap(p.Name)
	} else {
		d, err = openPacket(p.Name, func(problem string) { s.log.Warn(problem, "port", p.Name) })
	}
	if err != nil {
		return err
	}
	s.ports[p.Number] = &port{p, d, os.NewFile(uintptr(d.descriptor()), p.Name)}
	return nil
}

// Bridge is the switch, to be told what to do.
func (s *Switch) Bridge() datapath.Bridge { return s.sim }

// tick is how often the simulator is told the time when no frame comes. Timeouts are whole seconds.
const tick = 50 * time.Millisecond

// Run lets frames through until the context is over, or a device is gone. After it the switch is closed.
func (s *Switch) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range s.ports {
		g.Go(func() error { return s.receive(p) })
	}
	g.Go(func() error {
		defer s.close() // ends the others
		s.keepTime(ctx)
		return nil
	})
	return g.Wait()
}

func (s *Switch) keepTime(ctx context.Context) {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
			s.sim.Advance(time.Since(s.began))
		case <-ctx.Done():
			return
		}
	}
}

// receive takes in what comes by a port until that is closed.
func (s *Switch) receive(p *port) error {
	conn, err := p.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	for err == nil && failed == nil {
		err = conn.Read(func(uintptr) (some bool) {
			some, failed = s.drain(p)
			return some || failed != nil
		})
	}
	if failed != nil {
		return fmt.Errorf("read from port %s: %w", p.Name, failed)
	}
	return nil
}

// drain takes all that is there, and says whether anything was.
func (s *Switch) drain(p *port) (some bool, err error) {
	for {
		frame, err := p.device.read()
		switch {
		case err == nil:
			s.pass(datapath.Injection{InPort: p.Number, Frame: frame})
			some = true
		case errors.Is(err, syscall.EAGAIN):
			return some, nil
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.ENETDOWN): // the cable is unplugged, and may be plugged in again
			some = true
		default:
			return some, err
		}
	}
}

// pass lets a frame pass the simulator, and tells those who watch in the order in which frames do.
func (s *Switch) pass(in datapath.Injection) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.sim.Advance(time.Since(s.began))
	if s.watchers.none() {
		s.sim.Receive(in, s.send)
		return
	}
	var out []datapath.Output
	v := s.sim.Receive(in, func(o datapath.Output) {
		out = append(out, datapath.Output{Port: o.Port, Frame: bytes.Clone(o.Frame)})
		s.send(o)
	})
	s.watchers.tell(newPassage(in, out, v))
}

// send lets a frame leave by its port, while the simulator holds its lock: so frames keep their order. What a device does not
// take is lost: its cable is unplugged, its queue is full, or the frame is longer than its MTU.
func (s *Switch) send(o datapath.Output) {
	if p := s.ports[o.Port]; p != nil {
		_, _ = unix.Write(p.device.descriptor(), o.Frame)
	}
}

// close closes the simulator, after which nothing is sent any more, and then the devices.
func (s *Switch) close() {
	_ = s.sim.Close() // it never fails
	for _, p := range s.ports {
		_ = p.file.Close()
	}
}
