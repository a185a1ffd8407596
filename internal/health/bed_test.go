package health

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// A lab is a network of pipes, by address: the real probers reach the real servers of net/http through it, in virtual time.
type lab struct {
	mu    sync.Mutex
	hosts map[string]*labHost
	dials []string
}

// A labHost is a listener whose connections come from dial.
type labHost struct {
	accept chan net.Conn
	closed chan struct{}
	frozen bool // takes connections, and nothing more, as a stopped process
}

func (h *labHost) Accept() (net.Conn, error) {
	select {
	case c := <-h.accept:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *labHost) Close() error   { close(h.closed); return nil }
func (h *labHost) Addr() net.Addr { return &net.TCPAddr{} }

func (l *lab) dial(ctx context.Context, network, local, remote string) (net.Conn, error) {
	l.mu.Lock()
	l.dials = append(l.dials, network+" "+local+" "+remote)
	h := l.hosts[remote]
	frozen := h != nil && h.frozen
	l.mu.Unlock()
	if h == nil {
		return nil, syscall.ECONNREFUSED
	}
	near, far := net.Pipe()
	if frozen {
		return near, nil
	}
	select {
	case h.accept <- far:
		return near, nil
	case <-h.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lab) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.dials)
}

func (l *lab) freeze(address string, frozen bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[address].frozen = frozen
}

// The prototype's four members, their servers in the lab: one is frozen and recovers, one answers 503, one was never there.
func TestThePrototypeInALab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lab{hosts: map[string]*labHost{}}
		var sick atomic.Bool
		servers := map[string]*http.Server{}
		for _, address := range []string{"10.20.0.2:8080", "10.30.0.2:8080", "10.20.0.3:8080"} {
			h := &labHost{accept: make(chan net.Conn), closed: make(chan struct{})}
			l.hosts[address] = h
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if sick.Load() && r.Host == "10.30.0.2:8080" {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				io.WriteString(w, "ok")
			})}
			servers[address] = s
			go s.Serve(h)
		}
		j := &journal{}
		begin := time.Now()
		r := Start(Config{Dial: l.dial, Report: j.add})
		require.NoError(t, r.Update(Checks(prototype(t))))
		pass(5 * time.Second)
		up := j.transitions(begin)
		slices.Sort(up)
		require.Len(t, up, 3)
		require.Equal(t, "be1 down -> up after 1 success at 0s", up[0])
		require.Equal(t, "down (assumed) undecided, 2 failures in a row, 2 of 2 probes failed, last error: connection refused",
			r.Statuses()[3].Status.String())
		for _, d := range l.told() {
			source := strings.Fields(d)[1]
			require.True(t, strings.HasSuffix(source, ".253"), d)
		}

		l.freeze("10.20.0.2:8080", true)
		sick.Store(true)
		pass(10 * time.Second)
		down := j.transitions(begin)
		require.Len(t, down, 2)
		require.Contains(t, down[0]+down[1], "be1 up -> down after 3 failures in a row: timeout after 1s: request not taken at 11s")
		require.Contains(t, down[0]+down[1], "be2 up -> down after 3 failures in a row: status 503, want 200-299")

		l.freeze("10.20.0.2:8080", false)
		sick.Store(false)
		pass(10 * time.Second)
		require.Len(t, j.transitions(begin), 2)
		r.Stop()
		for _, s := range servers {
			s.Close()
		}
	})
}

// The same runner on the machine's own network and clock.
func TestRunnerOnLoopback(t *testing.T) {
	healthy := make(chan struct{})
	s := served(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-healthy:
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	events := make(chan Event, 1000)
	r := Start(Config{Report: func(e Event) { events <- e }})
	t.Cleanup(r.Stop)
	m := model.HealthMonitor{Type: model.MonitorHTTP, Interval: 10 * time.Millisecond, Timeout: patient, Rise: 2, Fall: 2,
		Path: "/healthz", Expect: success, Initial: model.InitialRise}
	require.NoError(t, r.Update([]Check{{ID: ID{"web", s.URL}, Name: "be1", Monitor: m, Target: target(t, s.URL, patient)}}))
	e := <-events
	requireResult(t, Unwanted, "status 503, want 200-299", e.Result)
	close(healthy)
	for !e.Transition.Happened() {
		e = <-events
	}
	require.Equal(t, "down -> up after 2 successes in a row", e.Transition.String())
	require.Positive(t, e.Status.Latency)
}
