package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Client calls a running daemon.
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client for an address "host:port", or for a unix socket if the address has a slash.
func NewClient(address string) *Client {
	if !strings.Contains(address, "/") {
		return &Client{base: "http://" + address, http: &http.Client{Timeout: writeTimeout}}
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", address)
	}
	return &Client{base: "http://hcd", http: &http.Client{Timeout: writeTimeout, Transport: &http.Transport{DialContext: dial}}}
}

// Get reads a call's answer into v, or as text if v is a *string.
func (c *Client) Get(ctx context.Context, path string, params url.Values, v any) error {
	return c.call(ctx, http.MethodGet, path, params, v)
}

// Post makes a call that changes something.
func (c *Client) Post(ctx context.Context, path string, params url.Values, v any) error {
	return c.call(ctx, http.MethodPost, path, params, v)
}

func (c *Client) call(ctx context.Context, method, path string, params url.Values, v any) error {
	target := c.base + path
	if len(params) > 0 {
		target += "?" + params.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return fmt.Errorf("call daemon: %w", err)
	}
	resp, err := c.http.Do(r)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("call daemon: nobody answers at %s: start hcd, or name its address with --api", c.base)
	}
	if err != nil {
		return fmt.Errorf("call daemon: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return refusal(resp, body)
	}
	if text, ok := v.(*string); ok {
		*text = string(body)
		return nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// refusal is the error that the daemon answered.
func refusal(resp *http.Response, body []byte) error {
	var fault struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &fault) == nil && fault.Error != "" {
		return errors.New(fault.Error)
	}
	return fmt.Errorf("daemon answered %s", resp.Status)
}
