package dummy

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"time"

	"hpnn/internal/ovsproto"
)

const (
	// receiveBatch is how many frames go into one request. A dummy port queues at most 100.
	receiveBatch = 64
	// frameTime is somewhat less than the daemon needs for a frame.
	frameTime = 10 * time.Microsecond
)

// Output is a frame that a port sent.
type Output struct {
	Port  string // a name of Config.Ports, or Local
	Frame []byte // the whole Ethernet frame without FCS
}

// Receive lets the frames arrive at a port, one after the other, and returns when the last has been forwarded or
// dropped. Frames of one call share a request, which is several times faster than a call for each; the result is the
// same. A port that is not in the configuration, or a frame shorter than an Ethernet header, is a RefusedError; then none
// of the frames arrives.
func (s *Switch) Receive(ctx context.Context, port string, frames ...[]byte) error {
	return s.do(ctx, "receive on "+port, func(ctx context.Context) error {
		if err := s.config.accepts(port, frames); err != nil {
			return err
		}
		for len(frames) > 0 {
			n := min(len(frames), receiveBatch)
			if err := s.inject(ctx, port, frames[:n]); err != nil {
				return err
			}
			frames = frames[n:]
		}
		return nil
	})
}

// inject queues frames at a port and awaits them. Each round of the daemon's main loop takes one frame from a port
// before it looks at OpenFlow messages. So the reply to a barrier sent after one frame was queued is exact. Several
// barriers may be answered in one round, so for several frames the port's counter is watched.
func (s *Switch) inject(ctx context.Context, port string, frames [][]byte) error {
	var before uint64
	if len(frames) > 1 {
		var err error
		if before, err = s.received(ctx, port); err != nil {
			return err
		}
	}
	params := []string{port}
	for _, f := range frames {
		params = append(params, hex.EncodeToString(f))
	}
	if _, err := s.control.Call(ctx, "netdev-dummy/receive", params...); err != nil {
		return err
	}
	if len(frames) == 1 {
		return s.barrier(ctx)
	}
	for {
		after, err := s.received(ctx, port)
		missing := len(frames) - int(after-before)
		if err != nil || missing <= 0 {
			return err
		}
		time.Sleep(time.Duration(missing) * frameTime) // asking more often slows the daemon down
	}
}

// Outputs returns the frames sent since the last call (or Reset): the ports in the order Local, Config.Ports; each
// port's frames in the order sent. Across ports there is no order; see the package comment.
func (s *Switch) Outputs() ([]Output, error) {
	var outputs []Output
	err := s.do(context.Background(), "read outputs", func(context.Context) (err error) {
		for _, c := range s.captures {
			if outputs, err = c.next(outputs); err != nil {
				return err
			}
		}
		return nil
	})
	return outputs, err
}

// barrier waits until the bridge has done what was asked of it, including the OpenFlow messages before.
func (s *Switch) barrier(ctx context.Context, before ...ovsproto.Message) error {
	return s.ask(ctx, func(o *openflow) error { return o.Barrier(ctx, before...) })
}

// received returns how many frames from a port of the configuration the bridge has finished with.
func (s *Switch) received(ctx context.Context, port string) (count uint64, err error) {
	number, _ := s.config.number(port)
	err = s.ask(ctx, func(o *openflow) (err error) {
		counters, err := o.PortCounters(ctx, number)
		count = counters.RxFrames
		return err
	})
	return count, err
}

// ask puts a question to the bridge, once more if the connection has been lost. It is made when needed: OVS drops it as
// idle when its clock leaps.
func (s *Switch) ask(ctx context.Context, question func(*openflow) error) (err error) {
	fresh := s.bridge == nil
	if fresh {
		if s.bridge, err = dialOpenFlow(ctx, s.path(Local+".mgmt")); err != nil {
			return err
		}
	}
	err = question(s.bridge)
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	s.hangUp() // a message may have been read half
	if fresh || !disconnected(err) {
		return err
	}
	return s.ask(ctx, question)
}

func (s *Switch) hangUp() {
	s.bridge.hangUp()
	s.bridge = nil
}

func disconnected(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) && !network.Timeout()
}
