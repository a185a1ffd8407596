package dummy

import (
	"context"
	"fmt"

	"hpnn/internal/ovsproto"
)

// PacketIn is a frame that a flow sent to the controllers of connection id 0.
type PacketIn struct {
	Port   uint32 // OpenFlow number of the port that the frame came in on
	Reason uint8  // OpenFlow 1.5, 7.4.1
	Frame  []byte // as much of it as the flow wanted sent
}

// Listen makes the switch send packet-ins from now on, until Warp: the bridge hangs up when its clock leaps.
func (s *Switch) Listen(ctx context.Context) error {
	return s.do(ctx, "listen for packet-ins", func(ctx context.Context) (err error) {
		s.listener.Close()
		if s.listener, err = ovsproto.Dial(ctx, s.path(Local+".mgmt")); err != nil {
			return err
		}
		return s.listener.Barrier(ctx, ovsproto.WantPackets(), everyReason())
	})
}

// everyReason is the message that asks for packet-ins for all reasons; those for an invalid TTL are not sent otherwise.
func everyReason() ovsproto.Message {
	const setAsync, primary, all = 28, 1, 0x3f // OFPT_SET_ASYNC, OFPACPT_PACKET_IN_MASTER, six reasons
	return ovsproto.Message{Type: setAsync, Body: []byte{0, primary, 0, 8, 0, 0, 0, all}}
}

// PacketIns returns the packet-ins since the last call or Listen, in order.
func (s *Switch) PacketIns(ctx context.Context) (packets []PacketIn, err error) {
	err = s.do(ctx, "read packet-ins", func(ctx context.Context) (err error) {
		if s.listener == nil {
			return fmt.Errorf("nobody listens")
		}
		packets, err = s.hear(ctx)
		return err
	})
	return packets, err
}

// hear waits until the bridge has done what was asked of it, and returns the packet-ins until then.
func (s *Switch) hear(ctx context.Context) (packets []PacketIn, err error) {
	xid := s.listener.NextXID()
	if err := s.listener.Send(ctx, ovsproto.Message{Type: ovsproto.BarrierRequest, XID: xid}); err != nil {
		return nil, err
	}
	for {
		m, err := s.listener.Next(ctx)
		switch {
		case err != nil:
			return packets, err
		case m.Type == ovsproto.BarrierReply && m.XID == xid:
			return packets, nil
		case m.Type == ovsproto.PacketIn:
			p, err := m.Packet()
			if err != nil {
				return packets, err
			}
			packets = append(packets, PacketIn{p.InPort, p.Reason, p.Frame})
		}
	}
}
