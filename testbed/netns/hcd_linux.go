package netns

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

func (b *Bed) apiSocket() string { return b.path("hcd.sock") }

// StartHCD starts the daemon and returns when its API answers.
func (b *Bed) StartHCD(ctx context.Context) error {
	args := append(b.forwarder.flags(), "--topology", b.TopologyFile(), "--socket", b.apiSocket(), "--listen", "", "--log-json",
		"--state", b.path("state.json"))
	p, err := b.node.start(b.dir, "hcd", filepath.Join(b.config.Programs, "hcd"), args...)
	if err != nil {
		return err
	}
	b.keep(&b.hcd, p)
	return awaitSocket(ctx, p, b.apiSocket())
}

// KillHCD ends the daemon as kill -9 does. The switch goes on by itself.
func (b *Bed) KillHCD() { b.running(&b.hcd).kill() }

// Call calls the daemon's API, "GET /status" say, and returns the answer's body.
func (b *Bed) Call(ctx context.Context, method, path string) ([]byte, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", b.apiSocket())
	}}
	request, err := http.NewRequestWithContext(ctx, method, "http://hcd"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	reply, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, reply.Status, body)
	}
	return body, err
}

// Status is what the daemon says of itself, as far as it is of interest here.
type Status struct {
	Control struct {
		InSync  bool   `json:"in_sync"`
		Failure string `json:"failure"`
		Repairs int    `json:"repairs"`
		Commits int    `json:"commits"`
	} `json:"control"`
	Pools []struct {
		Name    string         `json:"name"`
		Live    int            `json:"live"`
		Digest  string         `json:"digest"`
		Members []MemberStatus `json:"members"`
	} `json:"pools"`
}

// MemberStatus is a member of a pool.
type MemberStatus struct {
	Name   string `json:"name"`
	Up     bool   `json:"up"`
	InPool bool   `json:"in_pool"`
	Slots  int    `json:"slots"`
	Admin  string `json:"admin"`
}

// Status asks the daemon.
func (b *Bed) Status(ctx context.Context) (s Status, err error) {
	body, err := b.Call(ctx, http.MethodGet, "/status")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("read the daemon's status: %w", err)
	}
	return s, nil
}

// Drain takes a member out for new connections; Enable takes it in again.
func (b *Bed) Drain(ctx context.Context, member string) error {
	_, err := b.Call(ctx, http.MethodPost, "/drain?member="+member)
	return err
}

// Enable ends a Drain.
func (b *Bed) Enable(ctx context.Context, member string) error {
	_, err := b.Call(ctx, http.MethodPost, "/enable?member="+member)
	return err
}
