package bridgerpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/eventqueue"
)

// Config says which switch to use.
type Config struct {
	Socket string // the path of the server's unix socket
	// Begin is called each time the switch is there, before Connected says so: it may have begun anew, with nothing of what
	// was there before. Until it succeeds, it is tried again. It may be nil.
	Begin func() error
}

// Bridge is a switch in another process.
type Bridge struct {
	config Config
	http   *http.Client
	events *eventqueue.Queue

	life    context.Context // ends with Close
	end     context.CancelFunc
	watcher sync.WaitGroup
	closing sync.Once
}

var _ datapath.Bridge = (*Bridge)(nil)

// Open connects to a server. The context bounds this only; Close ends the rest.
func Open(ctx context.Context, c Config) (*Bridge, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.Socket)
	}
	b := &Bridge{config: c, http: &http.Client{Transport: &http.Transport{DialContext: dial}}, events: eventqueue.New()}
	b.life, b.end = context.WithCancel(context.Background())
	first, err := b.subscribe(ctx)
	if err != nil {
		_ = b.Close() // it never fails
		return nil, fmt.Errorf("open bridge at %s: %w", c.Socket, err)
	}
	b.watcher.Go(func() { b.watch(first) })
	return b, nil
}

// Close implements datapath.Bridge. It ends calls that are in progress.
func (b *Bridge) Close() error {
	b.closing.Do(func() {
		b.end()
		b.watcher.Wait()
		b.http.CloseIdleConnections()
		b.events.Close()
	})
	return nil
}

// Events implements datapath.Bridge.
func (b *Bridge) Events() <-chan datapath.Event { return b.events.Events() }

// Commit implements datapath.Bridge.
func (b *Bridge) Commit(ctx context.Context, bundle openflow.Bundle) error {
	_, f, err := call[nothing](ctx, b, commitPath, modTexts(bundle))
	switch {
	case err != nil:
		return fmt.Errorf("commit bundle: %w", err)
	case f == nil:
		return nil
	case f.Commit == nil:
		return f.err()
	}
	refused := &datapath.CommitError{Index: f.Commit.Index, Err: &remoteError{f.Commit.Text, f.Reason.err()}}
	if i := refused.Index; i >= 0 && i < len(bundle) {
		refused.Mod = bundle[i]
	}
	return refused
}

// Flows implements datapath.Bridge.
func (b *Bridge) Flows(ctx context.Context) ([]openflow.FlowEntry, error) {
	lines, err := result[[]flowEntry](ctx, b, "list flows", flowsPath, nothing{})
	if err != nil {
		return nil, err
	}
	flows := make([]openflow.FlowEntry, len(lines))
	for i, line := range lines {
		if flows[i], err = line.parse(); err != nil {
			return nil, fmt.Errorf("list flows: %w", err)
		}
	}
	return flows, nil
}

// Ports implements datapath.Bridge.
func (b *Bridge) Ports(ctx context.Context) ([]datapath.Port, error) {
	return result[[]datapath.Port](ctx, b, "list ports", portsPath, nothing{})
}

// Trace implements datapath.Bridge.
func (b *Bridge) Trace(ctx context.Context, in datapath.Injection) (datapath.Trace, error) {
	return result[datapath.Trace](ctx, b, "trace frame", tracePath, in)
}

// PacketOut implements datapath.Bridge.
func (b *Bridge) PacketOut(ctx context.Context, in datapath.Injection, actions []openflow.Action) error {
	_, err := result[nothing](ctx, b, "send frame", packetOutPath, packetOut{in, openflow.FormatActions(actions)})
	return err
}

// Conntrack implements datapath.Bridge.
func (b *Bridge) Conntrack() datapath.Conntrack { return conntrack{b} }

type conntrack struct{ b *Bridge }

// Connections implements datapath.Conntrack.
func (c conntrack) Connections(ctx context.Context, f datapath.ConnFilter) ([]datapath.Conn, error) {
	return result[[]datapath.Conn](ctx, c.b, "list connections", connectionsPath, f)
}

// Flush implements datapath.Conntrack.
func (c conntrack) Flush(ctx context.Context, f datapath.ConnFilter) error {
	_, err := result[nothing](ctx, c.b, "flush connections", flushPath, f)
	return err
}

// result makes a call whose fault is an error like any other.
func result[A any](ctx context.Context, b *Bridge, what, path string, question any) (a A, err error) {
	a, f, err := call[A](ctx, b, path, question)
	if err != nil {
		return a, fmt.Errorf("%s: %w", what, err)
	}
	if f != nil {
		return a, f.err()
	}
	return a, nil
}

// call asks the server. Without an answer there is an error, which says why.
func call[A any](ctx context.Context, b *Bridge, path string, question any) (result A, f *fault, err error) {
	if err := errors.Join(ctx.Err(), b.closed()); err != nil {
		return result, nil, err
	}
	bound, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	reply, err := b.post(bound, path, question)
	if err != nil {
		return result, nil, b.lost(ctx, err)
	}
	defer reply.Body.Close()
	var a answer[A]
	if err := json.NewDecoder(reply.Body).Decode(&a); err != nil {
		return result, nil, b.lost(ctx, err)
	}
	return a.Result, a.Fault, nil
}

func (b *Bridge) closed() error {
	if b.life.Err() != nil {
		return datapath.ErrClosed
	}
	return nil
}

// lost is why there is no answer: the caller gave up, the Bridge was closed, or else the switch is not there.
func (b *Bridge) lost(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case b.closed() != nil:
		return datapath.ErrClosed
	}
	return fmt.Errorf("%w: %w", datapath.ErrUnavailable, err)
}

// post sends a question. The answer's body is the caller's.
func (b *Bridge) post(ctx context.Context, path string, question any) (*http.Response, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://switch"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	reply, err := b.http.Do(r)
	if err == nil && reply.StatusCode != http.StatusOK {
		_ = reply.Body.Close()
		err = fmt.Errorf("call %s: %s: is this the socket of a switch?", path, reply.Status)
	}
	return reply, err
}
