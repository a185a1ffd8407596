package dummy

import (
	"context"
	"encoding/hex"
	"fmt"
)

// Exchange lets a frame arrive at a port and returns what left because of it and what went to the controller: Receive,
// Outputs and PacketIns for the price of Receive. Somebody must Listen. What left before, and was not read, comes first.
func (s *Switch) Exchange(ctx context.Context, port string, frame []byte) (outputs []Output, packets []PacketIn, err error) {
	err = s.do(ctx, "exchange frames on "+port, func(ctx context.Context) error {
		if err := s.config.accepts(port, [][]byte{frame}); err != nil {
			return err
		}
		if s.listener == nil {
			return fmt.Errorf("nobody listens")
		}
		if _, err := s.control.Call(ctx, "netdev-dummy/receive", port, hex.EncodeToString(frame)); err != nil {
			return err
		}
		if packets, err = s.hear(ctx); err != nil { // its barrier is behind the frame
			return err
		}
		for _, c := range s.captures {
			if outputs, err = c.next(outputs); err != nil {
				return err
			}
		}
		return nil
	})
	return outputs, packets, err
}
