package ovsproto

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
)

// Conn is an OpenFlow 1.5 connection. One goroutine may read while others send; otherwise it is not
// made for several. Session is.
type Conn struct {
	conn    net.Conn
	reader  *bufio.Reader
	sending chan struct{} // holds one element while a goroutine sends
	xid     uint32        // of the last request
}

// Dial connects to a bridge's socket, such as /run/openvswitch/br0.mgmt, and says hello.
func Dial(ctx context.Context, path string) (*Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return NewConn(ctx, conn)
}

// NewConn says hello on a connection that either side has opened. If that fails, it closes conn.
func NewConn(ctx context.Context, conn net.Conn) (*Conn, error) {
	c := &Conn{conn: conn, reader: bufio.NewReaderSize(conn, readAhead), sending: make(chan struct{}, 1)}
	if err := c.Send(ctx, Message{Type: Hello}); err != nil {
		c.Close()
		return nil, fmt.Errorf("say hello: %w", err)
	}
	return c, nil
}

// readAhead is how many bytes are taken from the socket at once: a dump comes in messages of this size.
const readAhead = 1 << 16

// Close hangs up; who reads or sends gets an error. Closing a nil Conn is harmless.
func (c *Conn) Close() {
	if c != nil {
		_ = c.conn.Close()
	}
}

// Send sends messages, one after the other, in one write.
func (c *Conn) Send(ctx context.Context, messages ...Message) error {
	var out []byte
	for _, m := range messages {
		out = append(out, m.Bytes()...)
	}
	return c.write(ctx, out)
}

// write sends bytes in one write, after those of others.
func (c *Conn) write(ctx context.Context, out []byte) error {
	select {
	case c.sending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.sending }()
	return within(ctx, c.conn.SetWriteDeadline, func() error {
		_, err := c.conn.Write(out)
		return err
	})
}

// Next returns the next message, be it in answer to a request or not. It answers the other side's
// questions whether we live, and does not return them.
func (c *Conn) Next(ctx context.Context) (m Message, err error) {
	for {
		err = within(ctx, c.conn.SetReadDeadline, func() (err error) {
			m, err = readMessage(c.reader)
			return err
		})
		if err != nil || m.Type != EchoRequest {
			return m, err
		}
		if err := c.Send(ctx, Message{EchoReply, m.XID, m.Body}); err != nil {
			return Message{}, fmt.Errorf("answer echo: %w", err)
		}
	}
}

// NextXID is a transaction id that was not used before on this connection.
func (c *Conn) NextXID() uint32 {
	c.xid++
	return c.xid
}

// Barrier sends messages and returns when the bridge has done all that was asked of it. An error that
// it reported meanwhile is returned, as a *RefusedError, after the barrier. Other messages that arrive
// are lost.
func (c *Conn) Barrier(ctx context.Context, before ...Message) error {
	xid := c.NextXID()
	if err := c.Send(ctx, append(before[:len(before):len(before)], Message{Type: BarrierRequest, XID: xid})...); err != nil {
		return fmt.Errorf("send barrier: %w", err)
	}
	var refused error
	for {
		m, err := c.Next(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("await barrier: %w", err)
		case m.Type == BarrierReply && m.XID == xid:
			return refused
		case m.Type == Error && refused == nil:
			refused = refusal(m.Body)
		}
	}
}

// MultipartType says what a multipart request asks for (section 7.3.5).
type MultipartType uint16

// Possible MultipartType values; there are more.
const (
	FlowDesc  MultipartType = 1
	PortStats MultipartType = 4
	PortDesc  MultipartType = 13
)

const (
	multipartHeader = 8 // type, flags, padding
	more            = 1 // OFPMPF_REPLY_MORE
)

func multipartRequest(xid uint32, t MultipartType, question []byte) Message {
	body := binary.BigEndian.AppendUint16(nil, uint16(t))
	body = append(body, 0, 0, 0, 0, 0, 0)
	return Message{MultipartRequest, xid, append(body, question...)}
}

// Multipart asks a question and returns the bodies of all replies, each after its multipart header.
// Other messages that arrive meanwhile are lost. What the bridge refuses is a *RefusedError.
func (c *Conn) Multipart(ctx context.Context, t MultipartType, question []byte) (replies [][]byte, err error) {
	xid := c.NextXID()
	if err := c.Send(ctx, multipartRequest(xid, t, question)); err != nil {
		return nil, fmt.Errorf("send multipart request %d: %w", t, err)
	}
	for {
		m, err := c.Next(ctx)
		switch {
		case err != nil:
			return nil, fmt.Errorf("await multipart reply %d: %w", t, err)
		case m.XID != xid:
		case m.Type == Error:
			return nil, refusal(m.Body)
		case m.Type != MultipartReply || len(m.Body) < multipartHeader:
			return nil, fmt.Errorf("await multipart reply %d: got message type %d of %d bytes", t, m.Type, len(m.Body))
		default:
			replies = append(replies, m.Body[multipartHeader:])
			if binary.BigEndian.Uint16(m.Body[2:])&more == 0 {
				return replies, nil
			}
		}
	}
}
