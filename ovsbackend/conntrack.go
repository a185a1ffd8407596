package ovsbackend

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
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

// Flush implements datapath.Conntrack. It needs Open vSwitch 3.1.
func (c *conntrack) Flush(ctx context.Context, f datapath.ConnFilter) error {
	return (*Bridge)(c).do(ctx, "flush connections", func(ctx context.Context) error {
		return (*Bridge)(c).flush(ctx, f)
	})
}

// flush lets the switch select the connections where it means the same by that; else it flushes them one
// by one.
func (b *Bridge) flush(ctx context.Context, f datapath.ConnFilter) error {
	if f.Orig.Proto != 0 && f.Reply.Proto != 0 && f.Orig.Proto != f.Reply.Proto {
		return nil // no connection changes its protocol
	}
	messages := []ovsproto.Message{flushRequest(f).Message()}
	if !expressible(f) {
		conns, err := b.connections(ctx, f)
		if err != nil {
			return err
		}
		messages = nil
		for _, c := range conns {
			messages = append(messages, flushOne(c).Message())
		}
	}
	return b.ask(ctx, func(conn *ovsproto.Conn) error { return conn.Barrier(ctx, messages...) })
}

// expressible tells whether the switch selects by f as f says. It does not know ports without a
// protocol, the type of an ICMP message is never "any" to it, and a complete original tuple is of zone
// 0 if no zone is given.
func expressible(f datapath.ConnFilter) bool {
	proto := max(f.Orig.Proto, f.Reply.Proto)
	hasPorts := proto == openflow.ProtoTCP || proto == openflow.ProtoUDP || proto == openflow.ProtoSCTP
	ports := f.Orig.SrcPort | f.Orig.DstPort | f.Reply.SrcPort | f.Reply.DstPort
	for _, a := range []netip.Addr{f.Orig.Src, f.Orig.Dst, f.Reply.Src, f.Reply.Dst} {
		if a.IsValid() && a.IsUnspecified() {
			return false // to the switch, that means any
		}
	}
	complete := f.Orig.Src.IsValid() && f.Orig.Dst.IsValid()
	return proto != openflow.ProtoICMP && proto != openflow.ProtoICMPv6 && (ports == 0 || hasPorts) && (f.Zone != 0 || !complete)
}

func flushRequest(f datapath.ConnFilter) ovsproto.ConnFlush {
	tuple := func(t datapath.TupleFilter) ovsproto.ConnTuple {
		return ovsproto.ConnTuple{Src: t.Src, Dst: t.Dst, SrcPort: t.SrcPort, DstPort: t.DstPort}
	}
	r := ovsproto.ConnFlush{Proto: max(f.Orig.Proto, f.Reply.Proto), Orig: tuple(f.Orig), Reply: tuple(f.Reply)}
	if f.Zone != 0 {
		r.Zone = &f.Zone
	}
	return r
}

// flushOne names a connection by zone and original tuple.
func flushOne(c datapath.Conn) ovsproto.ConnFlush {
	t := c.Orig
	return ovsproto.ConnFlush{Zone: &c.Zone, Proto: t.Proto, Orig: ovsproto.ConnTuple{
		Src: t.Src, Dst: t.Dst, SrcPort: t.SrcPort, DstPort: t.DstPort,
		ICMP: t.Proto == openflow.ProtoICMP || t.Proto == openflow.ProtoICMPv6, ID: t.ID, ICMPType: t.Type, ICMPCode: t.Code}}
}

// ask puts a question over an OpenFlow connection of its own, which costs little and survives restarts.
func (b *Bridge) ask(ctx context.Context, question func(*ovsproto.Conn) error) error {
	conn, err := ovsproto.Dial(ctx, b.config.managementSocket())
	if err == nil {
		defer conn.Close()
		err = question(conn)
	}
	return unavailable(ctx, "ask "+b.config.managementSocket(), err)
}
