//go:build linux

package realtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hpnn/testbed"
)

const (
	// getTimeout is that of a request that names none.
	getTimeout = 30 * time.Second
	// early is how much sooner than told a request gives up at most. Kernels send a SYN again after whole seconds, and so long
	// do requests often wait: whether the one comes before the other is not to be luck.
	early = 200 * time.Millisecond
)

// patience is how long a request waits.
func patience(told time.Duration) time.Duration {
	if told == 0 {
		told = getTimeout
	}
	return told - min(early, told/5)
}

// request is a request under way.
type request struct {
	mu     sync.Mutex
	done   bool
	answer testbed.Answer
}

// Done implements testbed.Request.
func (r *request) Done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// Answer implements testbed.Request.
func (r *request) Answer() testbed.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer
}

func (r *request) note(change func(*testbed.Answer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.answer)
}

func (r *request) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer.Err, r.done = plain(err), true
}

// plain makes a timeout of Go's one of the system's, whose errno callers look for.
func plain(err error) error {
	if err != nil && (os.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded)) {
		return fmt.Errorf("%w: %w", syscall.ETIMEDOUT, err)
	}
	return err
}

// Get implements testbed.Hosts.
func (h *hosts) Get(name, url string, o testbed.GetOptions) (testbed.Request, error) {
	m, err := h.find(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience(o.Timeout))
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &request{}
	go func() {
		defer cancel()
		r.end(r.get(client(m, o), ask))
		h.bed.came()
	}()
	return r, nil
}

// get makes the request and takes in the answer as it comes.
func (r *request) get(c *http.Client, ask *http.Request) error {
	defer c.CloseIdleConnections()
	reply, err := c.Do(ask)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	r.note(func(a *testbed.Answer) { a.Status = reply.StatusCode })
	buffer := make([]byte, 4096)
	for {
		n, err := reply.Body.Read(buffer)
		r.note(func(a *testbed.Answer) { a.Body += string(buffer[:n]) })
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// client makes a client on a machine for one request. It closes the connection first, so that the server keeps no memory of
// it, and the port can be used again at once towards others.
// It asks nothing while it waits: whether a silent client hears the rest is what a story may be about.
func client(m Machine, o testbed.GetOptions) *http.Client {
	d := net.Dialer{Control: socketOptions(o), KeepAlive: -1}
	if o.LocalPort != 0 {
		d.LocalAddr = &net.TCPAddr{Port: int(o.LocalPort)}
	}
	dial := func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = m.Enter(func() (err error) {
			conn, err = d.DialContext(ctx, network, address)
			return err
		})
		return conn, err
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, MaxIdleConnsPerHost: -1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func socketOptions(o testbed.GetOptions) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) (err error) {
		e := c.Control(func(fd uintptr) {
			if o.LocalPort != 0 { // who does not allow it now cannot allow it later, when the port is wanted for another connection
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
			}
			if o.TTL != 0 {
				err = errors.Join(err, unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, int(o.TTL)))
			}
		})
		return errors.Join(e, err)
	}
}
