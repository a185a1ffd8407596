package ovsproto

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// ErrLost is why calls over a Session fail whose connection has ended. What was asked may have happened or not,
// unless the call says otherwise.
var ErrLost = errors.New("the connection broke")

// Session shares a Conn: several goroutines ask, each in its own time, while one reads with Next. That one hands the
// replies to those who asked.
type Session struct {
	conn *Conn
	lost chan struct{} // closed when the connection has ended

	mu    sync.Mutex
	xid   uint32 // the last that was given away
	calls []*call
	ended bool
}

// call is one exchange: some transaction ids, and the replies to them.
type call struct {
	session     *Session
	first, last uint32
	replies     chan Message
	over        chan struct{} // closed when nobody listens any more
}

// NewSession takes a connection over.
func NewSession(conn *Conn) *Session {
	return &Session{conn: conn, lost: make(chan struct{}), xid: conn.xid}
}

// Close hangs up. Closing a nil Session is harmless.
func (s *Session) Close() {
	if s != nil {
		s.conn.Close()
	}
}

// Send sends messages that have no reply. If that fails, the connection is no longer of use and ends.
func (s *Session) Send(ctx context.Context, messages ...Message) error {
	var out []byte
	for _, m := range messages {
		out = append(out, m.Bytes()...)
	}
	return s.write(ctx, out)
}

// write sends bytes. Half a message would garble all that follow, so a failure ends the connection.
func (s *Session) write(ctx context.Context, out []byte) error {
	err := s.conn.write(ctx, out)
	if err == nil {
		return nil
	}
	s.conn.Close()
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// Next returns the next message after it was handed to whom it is for. Whoever reads must go on until there is an error;
// then the session is over, and so is every call. Only one goroutine reads.
func (s *Session) Next(ctx context.Context) (Message, error) {
	m, err := s.conn.Next(ctx)
	if err != nil {
		s.end()
		return m, err
	}
	if c := s.callOf(m); c != nil {
		select {
		case c.replies <- m:
		case <-c.over:
		}
	}
	return m, nil
}

func (s *Session) end() {
	s.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.lost)
	}
}

// callOf finds who asked for a message; nil if nobody did, or has given up.
func (s *Session) callOf(m Message) *call {
	switch m.Type {
	case Error, MultipartReply, BarrierReply, BundleControl:
	default:
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.first <= m.XID && m.XID <= c.last {
			return c
		}
	}
	return nil
}

// begin reserves n transaction ids. Without an error, the caller must call end.
func (s *Session) begin(n int) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, ErrLost
	}
	if s.xid > math.MaxUint32-uint32(n) {
		s.xid = 0
	}
	c := &call{s, s.xid + 1, s.xid + uint32(n), make(chan Message, 16), make(chan struct{})}
	s.xid += uint32(n)
	s.calls = append(s.calls, c)
	return c, nil
}

// end gives the transaction ids back. Replies that still come are dropped.
func (c *call) end() {
	close(c.over)
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.calls = slices.DeleteFunc(c.session.calls, func(other *call) bool { return other == c })
}

// next is the next reply.
func (c *call) next(ctx context.Context) (Message, error) {
	select {
	case m := <-c.replies:
		return m, nil
	case <-ctx.Done():
		return Message{}, ctx.Err()
	case <-c.session.lost:
	}
	select {
	case m := <-c.replies: // it came before the end
		return m, nil
	default:
		return Message{}, ErrLost
	}
}

// Multipart asks a question and hands the bodies of the replies to read, each after its multipart header, as they
// come. What the bridge refuses is a *RefusedError, and an error of read ends the call.
func (s *Session) Multipart(ctx context.Context, t MultipartType, question []byte, read func([]byte) error) error {
	c, err := s.begin(1)
	if err != nil {
		return err
	}
	defer c.end()
	if err := s.Send(ctx, multipartRequest(c.first, t, question)); err != nil {
		return fmt.Errorf("send multipart request %d: %w", t, err)
	}
	for {
		m, err := c.next(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("await multipart reply %d: %w", t, err)
		case m.Type == Error:
			return refusal(m.Body)
		case m.Type != MultipartReply || len(m.Body) < multipartHeader:
			return fmt.Errorf("await multipart reply %d: got message type %d of %d bytes", t, m.Type, len(m.Body))
		}
		if err := read(m.Body[multipartHeader:]); err != nil {
			return err
		}
		if binary.BigEndian.Uint16(m.Body[2:])&more == 0 {
			return nil
		}
	}
}
