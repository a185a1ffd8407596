package simbackend

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
)

var (
	_ datapath.Bridge    = (*Switch)(nil)
	_ datapath.Conntrack = (*Switch)(nil)
)

// enter takes the lock, unless the context is over or the switch is closed.
func (s *Switch) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return datapath.ErrClosed
	}
	return nil
}

// Commit implements datapath.Bridge.
func (s *Switch) Commit(ctx context.Context, b openflow.Bundle) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("commit bundle: %w", err)
	}
	defer s.mu.Unlock()
	return s.commit(b)
}

// Flows implements datapath.Bridge.
func (s *Switch) Flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("list flows: %w", err)
	}
	defer s.mu.Unlock()
	return s.entries(), nil
}

// Ports implements datapath.Bridge.
func (s *Switch) Ports(ctx context.Context) ([]datapath.Port, error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	defer s.mu.Unlock()
	ports := make([]datapath.Port, len(s.order))
	for i, p := range s.order {
		ports[i] = *p
	}
	return ports, nil
}

// Trace implements datapath.Bridge.
func (s *Switch) Trace(ctx context.Context, in datapath.Injection) (datapath.Trace, error) {
	if err := s.enter(ctx); err != nil {
		return datapath.Trace{}, fmt.Errorf("trace frame: %w", err)
	}
	defer s.mu.Unlock()
	t := s.trace()
	if err := s.previewed(in); err != nil {
		return datapath.Trace{}, err
	}
	return t.result(), nil
}

// PacketOut implements datapath.Bridge. Frames that leave go where OnOutput says.
func (s *Switch) PacketOut(ctx context.Context, in datapath.Injection, actions []openflow.Action) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("send frame: %w", err)
	}
	defer s.mu.Unlock()
	c, err := compile(actions)
	if err != nil {
		return fmt.Errorf("send frame: %w", err)
	}
	s.packetOut(in, c)
	return nil
}

// Conntrack implements datapath.Bridge.
func (s *Switch) Conntrack() datapath.Conntrack { return s }

// Events implements datapath.Bridge.
func (s *Switch) Events() <-chan datapath.Event { return s.events }

// Close implements datapath.Bridge.
func (s *Switch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.events)
	}
	return nil
}

// Connections implements datapath.Conntrack.
func (s *Switch) Connections(ctx context.Context, f datapath.ConnFilter) ([]datapath.Conn, error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	defer s.mu.Unlock()
	var conns []datapath.Conn
	for c := range s.ct.Conns(s.now) {
		if conn := publicConn(c); f.Match(conn) {
			conns = append(conns, conn)
		}
	}
	slices.SortStableFunc(conns, CompareConns)
	return conns, nil
}

// Flush implements datapath.Conntrack.
func (s *Switch) Flush(ctx context.Context, f datapath.ConnFilter) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("flush connections: %w", err)
	}
	defer s.mu.Unlock()
	s.ct.FlushFunc(func(c conntrack.Conn) bool { return f.Match(publicConn(c)) })
	return nil
}

func publicConn(c conntrack.Conn) datapath.Conn {
	conn := datapath.Conn{
		Zone: c.Zone, Orig: publicTuple(c.Orig), Reply: publicTuple(c.Reply),
		Timeout: c.Timeout, Mark: c.Mark, Label: openflow.Value{Hi: c.Label.Hi, Lo: c.Label.Lo},
	}
	if c.Orig.Proto == openflow.ProtoTCP {
		conn.State = c.TCP.String()
	}
	return conn
}

func publicTuple(t conntrack.Tuple) datapath.Tuple {
	p := datapath.Tuple{Proto: t.Proto, Src: netip.AddrFrom4(t.Src), Dst: netip.AddrFrom4(t.Dst)}
	if t.Proto == openflow.ProtoICMP {
		p.ID, p.Type, p.Code = t.ID, uint8(t.SrcPort), uint8(t.DstPort)
	} else {
		p.SrcPort, p.DstPort = t.SrcPort, t.DstPort
	}
	return p
}

// CompareConns is the order in which Connections lists.
func CompareConns(a, b datapath.Conn) int {
	return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Orig.Proto, b.Orig.Proto),
		a.Orig.Src.Compare(b.Orig.Src), cmp.Compare(a.Orig.SrcPort, b.Orig.SrcPort), cmp.Compare(a.Orig.ID, b.Orig.ID),
		a.Orig.Dst.Compare(b.Orig.Dst), cmp.Compare(a.Orig.DstPort, b.Orig.DstPort))
}
