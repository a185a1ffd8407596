package dummy

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
)

// receiveBatch is how many frames go into one request. A dummy port queues at most 100.
const receiveBatch = 64

// Output is a frame that a port sent.
type Output struct {
	Port  string // a name of Config.Ports, or Local
	Frame []byte // the whole Ethernet frame without FCS
}

// Receive lets the frames arrive at a port, one after the other, and returns when the last has been forwarded or
// dropped. Frames of one call share a request, which is several times faster than a call for each; the result is the
// same. A frame OVS does not take (shorter than an Ethernet header) is a RefusedError; earlier ones have been forwarded.
func (s *Switch) Receive(ctx context.Context, port string, frames ...[]byte) error {
	return s.do(ctx, "receive on "+port, func(ctx context.Context) error {
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

func (s *Switch) inject(ctx context.Context, port string, frames [][]byte) error {
	params := []string{port}
	for _, f := range frames {
		params = append(params, hex.EncodeToString(f))
	}
	if _, err := s.control.call(ctx, "netdev-dummy/receive", params...); err != nil {
		return err
	}
	for range frames {
		if err := s.barrier(ctx); err != nil {
			return err
		}
	}
	return nil
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

// barrier waits for the bridge. The connection is made when needed: OVS drops it as idle when its clock leaps.
func (s *Switch) barrier(ctx context.Context, before ...[]byte) error {
	fresh := s.bridge == nil
	if fresh {
		if err := s.dialBridge(ctx); err != nil {
			return err
		}
	}
	err := s.bridge.barrier(ctx, before...)
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	s.hangUp() // a message may have been read half
	if fresh || !disconnected(err) {
		return err
	}
	return s.barrier(ctx, before...)
}

func (s *Switch) dialBridge(ctx context.Context) (err error) {
	s.bridge, err = dialOpenFlow(ctx, s.path(Local+".mgmt"))
	return err
}

func (s *Switch) hangUp() {
	s.bridge.close()
	s.bridge = nil
}

func disconnected(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) && !network.Timeout()
}
