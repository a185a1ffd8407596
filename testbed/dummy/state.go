package dummy

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// revalidateLimit bounds what takes a millisecond unless the daemon hangs.
const revalidateLimit = 10 * time.Second

// Warp advances the switch's clock at once by d, a positive number of whole milliseconds. When it returns, flows,
// connections and learned addresses whose time has come are gone. It costs some 10 ms of real time.
func (s *Switch) Warp(ctx context.Context, d time.Duration) error {
	return s.do(ctx, "warp", func(ctx context.Context) error {
		if d <= 0 || d%time.Millisecond != 0 {
			return fmt.Errorf("advance the clock by %v: it must be a positive number of milliseconds", d)
		}
		if _, err := s.control.Call(ctx, "time/warp", strconv.FormatInt(d.Milliseconds(), 10)); err != nil {
			return err
		}
		s.hangUp()
		if err := s.revalidate(ctx); err != nil {
			return err
		}
		return s.barrier(ctx)
	})
}

// revalidate makes OVS's revalidators do one round after the call: the bridge sweeps expired flows after each. They
// pause before a round and finish it when resumed, so the second pause begins after the end of the round. A caller who
// gives up in between would leave them paused, hence a deadline of its own.
func (s *Switch) revalidate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revalidateLimit)
	defer cancel()
	for _, command := range []string{"pause", "resume", "pause", "resume"} {
		if _, err := s.control.Call(ctx, "revalidator/"+command); err != nil {
			return err
		}
	}
	return nil
}

// Connections returns the connection table as "ovs-appctl dpctl/dump-conntrack -s" prints it, in no particular order.
func (s *Switch) Connections(ctx context.Context) (string, error) {
	return s.Appctl(ctx, "dpctl/dump-conntrack", "-s")
}

// FlushConnections forgets all tracked connections. Fragments that wait for their rest stay.
func (s *Switch) FlushConnections(ctx context.Context) error {
	_, err := s.Appctl(ctx, "dpctl/flush-conntrack")
	return err
}

// Reset makes the switch as after Start, except for its clock, port counters and fragments in waiting: no flows, groups,
// meters, connections, learned addresses or unread outputs.
func (s *Switch) Reset(ctx context.Context) error {
	return s.do(ctx, "reset", func(ctx context.Context) error {
		if err := s.barrier(ctx, deleteEverything()...); err != nil {
			return err
		}
		for _, command := range [][]string{{"dpctl/flush-conntrack"}, {"fdb/flush", Local}} {
			if _, err := s.control.Call(ctx, command[0], command[1:]...); err != nil {
				return err
			}
		}
		for _, c := range s.captures {
			if err := c.skip(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Trace returns what "ovs-appctl ofproto/trace br0 FLOW [PACKET]" prints. With packetHex, the header fields come from
// the packet and only metadata such as in_port from flow. A trace changes no counters; it does not look at tracked
// connections.
func (s *Switch) Trace(ctx context.Context, flow, packetHex string) (string, error) {
	args := []string{Local, flow}
	if packetHex != "" {
		args = append(args, packetHex)
	}
	return s.Appctl(ctx, "ofproto/trace", args...)
}

// Appctl runs any command of ovs-vswitchd's control socket (ovs-vswitchd(8), "RUNTIME MANAGEMENT COMMANDS") and returns
// its output. The clock commands would break the promises of Warp.
func (s *Switch) Appctl(ctx context.Context, command string, args ...string) (string, error) {
	var text string
	err := s.do(ctx, "call "+command, func(ctx context.Context) (err error) {
		text, err = s.control.Call(ctx, command, args...)
		return err
	})
	return text, err
}

// Version returns the version of ovs-vswitchd, e.g. "ovs-vswitchd (Open vSwitch) 3.1.0".
func (s *Switch) Version(ctx context.Context) (string, error) { return s.Appctl(ctx, "version") }
