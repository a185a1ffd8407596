package dummy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// unixctl speaks to a daemon's control socket: JSON-RPC 1.0 with string parameters (ovs-appctl(8)). The connection
// stays open, which makes a call some twenty-five times cheaper than a process of ovs-appctl.
type unixctl struct {
	conn    net.Conn
	decoder *json.Decoder
	last    int
}

type request struct {
	ID     int      `json:"id"`
	Method string   `json:"method"`
	Params []string `json:"params"`
}

type response struct {
	ID     int     `json:"id"`
	Result *string `json:"result"`
	Error  *string `json:"error"`
}

func dialUnixctl(ctx context.Context, path string) (*unixctl, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return &unixctl{conn: conn, decoder: json.NewDecoder(conn)}, nil
}

func (u *unixctl) close() {
	if u != nil {
		_ = u.conn.Close()
	}
}

// call asks and awaits the answer. What the daemon refuses is a RefusedError; everything else broke the connection.
func (u *unixctl) call(ctx context.Context, method string, params ...string) (string, error) {
	if params == nil {
		params = []string{} // null is refused
	}
	u.last++
	data, err := json.Marshal(request{u.last, method, params})
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", method, err)
	}
	var r response
	err = within(ctx, u.conn, func() error {
		if _, err := u.conn.Write(data); err != nil {
			return err
		}
		return u.await(&r)
	})
	switch {
	case err != nil:
		u.resume()
		return "", fmt.Errorf("call %s: %w", method, err)
	case r.Error != nil:
		return "", &RefusedError{Command: method, Words: *r.Error}
	case r.Result == nil:
		return "", nil
	}
	return *r.Result, nil
}

// await reads the answer to the last request and skips those to earlier ones, whose callers gave up.
func (u *unixctl) await(r *response) error {
	for r.ID != u.last {
		*r = response{}
		if err := u.decoder.Decode(r); err != nil {
			return err
		}
	}
	return nil
}

// resume keeps what was read of an answer: a decoder whose reading was broken off would never read again.
func (u *unixctl) resume() {
	u.decoder = json.NewDecoder(io.MultiReader(u.decoder.Buffered(), u.conn))
}

// within runs one exchange on conn and breaks it off when ctx ends. The error is then the context's.
func within(ctx context.Context, conn net.Conn, exchange func() error) error {
	deadline, _ := ctx.Deadline() // zero: none
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := exchange()
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return context.DeadlineExceeded
	}
	return err
}
