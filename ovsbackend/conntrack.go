package ovsbackend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ovsproto"
)

// Conntrack implements datapath.Bridge.
func (b *Bridge) Conntrack() datapath.Conntrack { return (*conntrack)(b) }

// conntrack is the bridge's connection tracker.
type conntrack Bridge

// Connections implements datapath.Conntrack.
func (c *conntrack) Connections(ctx context.Context, f datapath.ConnFilter) (conns []datapath.Conn, err error) {
	err = (*Bridge)(c).do(ctx, "list connections", func(ctx context.Context) (err error) {
		conns, err = (*Bridge)(c).connections(ctx, f)
		return err
	})
	return conns, err
}

func (b *Bridge) connections(ctx context.Context, f datapath.ConnFilter) ([]datapath.Conn, error) {
	layout, err := b.layout(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"-s", layout.datapath}
	if f.Zone != 0 {
		args = append(args, fmt.Sprintf("zone=%d", f.Zone))
	}
	text, err := b.appctl(ctx, "dpctl/dump-conntrack", args...)
	if err != nil {
		return nil, err
	}
	conns, err := parseConns(text)
	if err != nil {
		return nil, err
	}
	conns = slices.DeleteFunc(conns, func(c datapath.Conn) bool { return !f.Match(c) })
	slices.SortFunc(conns, compareConns)
	return conns, nil
}

// compareConns orders by zone, then by original tuple; the rest only makes the order complete.
func compareConns(a, b datapath.Conn) int {
	return cmp.Or(cmp.Compare(a.Zone, b.Zone), compareTuples(a.Orig, b.Orig), compareTuples(a.Reply, b.Reply))
}

func compareTuples(a, b datapath.Tuple) int {
	return cmp.Or(cmp.Compare(a.Proto, b.Proto), a.Src.Compare(b.Src), cmp.Compare(a.SrcPort, b.SrcPort), cmp.Compare(a.ID, b.ID),
		a.Dst.Compare(b.Dst), cmp.Compare(a.DstPort, b.DstPort), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code))
}

// Flush implements datapath.Conntrack. It needs Open vSwitch 3.1. Single ICMPv6 connections are kept, and
// the error then wraps datapath.ErrNotSupported: 3.1.0 aborts when it is to forget one.
//
// What is not a whole zone is listed and flushed one by one, by original tuples. Open vSwitch can select
// by parts of tuples itself, but 3.1.0 overlooks some: those that come after a translated connection that it
// just deleted.
func (c *conntrack) Flush(ctx context.Context, f datapath.ConnFilter) error {
	return (*Bridge)(c).do(ctx, "flush connections", func(ctx context.Context) error {
		return (*Bridge)(c).flush(ctx, f)
	})
}

func (b *Bridge) flush(ctx context.Context, f datapath.ConnFilter) error {
	if whole := (datapath.ConnFilter{Zone: f.Zone}); f == whole {
		return b.send(ctx, ovsproto.FlushZone(f.Zone))
	}
	conns, err := b.connections(ctx, f)
	if err != nil {
		return err
	}
	var messages []ovsproto.Message
	for _, c := range conns {
		if c.Orig.Proto != openflow.ProtoICMPv6 {
			messages = append(messages, ovsproto.FlushConn(connTuple(c)))
		}
	}
	if err := b.send(ctx, messages...); err != nil {
		return err
	}
	if n := len(conns) - len(messages); n > 0 {
		return fmt.Errorf("%d of %d connections are ICMPv6, which Open vSwitch 3.1 cannot forget one by one: %w: flush their zone", n, len(conns), datapath.ErrNotSupported)
	}
	return nil
}

// send sends messages and awaits that the switch has done what they say.
func (b *Bridge) send(ctx context.Context, messages ...ovsproto.Message) error {
	if len(messages) == 0 {
		return nil
	}
	return b.ask(ctx, func(ctx context.Context, conn *ovsproto.Conn) error { return conn.Barrier(ctx, messages...) })
}

func connTuple(c datapath.Conn) ovsproto.ConnTuple {
	t := c.Orig
	return ovsproto.ConnTuple{Zone: c.Zone, Proto: t.Proto, Src: t.Src, Dst: t.Dst, SrcPort: t.SrcPort, DstPort: t.DstPort,
		ICMP: t.Proto == openflow.ProtoICMP, ID: t.ID, Type: t.Type, Code: t.Code}
}
