package ovsproto

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
)

// Control is a connection to a daemon's control socket: JSON-RPC 1.0 with string parameters. Kept
// open, it makes a call some twenty-five times cheaper than a process of ovs-appctl. It is not made
// for several goroutines.
type Control struct {
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

// DialControl connects to the socket at path, such as /run/openvswitch/ovs-vswitchd.123.ctl.
func DialControl(ctx context.Context, path string) (*Control, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return &Control{conn: conn, decoder: json.NewDecoder(conn)}, nil
}

// Close hangs up. Closing a nil Control is harmless.
func (c *Control) Close() {
	if c != nil {
		_ = c.conn.Close()
	}
}

// Call asks and awaits the answer. What the daemon refuses is a *RefusedError; everything else broke
// the connection or is the context's error.
func (c *Control) Call(ctx context.Context, method string, params ...string) (string, error) {
	if params == nil {
		params = []string{} // null is refused
	}
	c.last++
	data, err := json.Marshal(request{c.last, method, params})
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", method, err)
	}
	var r response
	err = within(ctx, c.conn.SetDeadline, func() error {
		if _, err := c.conn.Write(data); err != nil {
			return err
		}
		return c.await(&r)
	})
	switch {
	case err != nil:
		c.resume()
		return "", fmt.Errorf("call %s: %w", method, err)
	case r.Error != nil:
		return "", &RefusedError{Command: method, Words: *r.Error}
	case r.Result == nil:
		return "", nil
	}
	return *r.Result, nil
}

// await reads the answer to the last request and skips those to earlier ones, whose callers gave up.
func (c *Control) await(r *response) error {
	for r.ID != c.last {
		*r = response{}
		if err := c.decoder.Decode(r); err != nil {
			return err
		}
	}
	return nil
}

// resume keeps what was read of an answer: a decoder whose reading was broken off would never read again.
func (c *Control) resume() {
	c.decoder = json.NewDecoder(io.MultiReader(c.decoder.Buffered(), c.conn))
}
