//go:build !linux

package ovsbackend

import (
	"errors"
	"slices"
)

// host is this host's side of internal ports, which only Linux has.
type host struct{}

var errNoHost = errors.New("internal ports need Linux: run the daemon beside the switch")

func newHost(ports []PortConfig) (*host, error) {
	if slices.ContainsFunc(ports, func(p PortConfig) bool { return p.Internal }) {
		return nil, errNoHost
	}
	return nil, nil
}

func (h *host) close() {}

// SetUpPorts gives the internal ports of a switch their addresses. It works on Linux only.
func SetUpPorts(ports []PortConfig) error {
	_, err := newHost(ports)
	return err
}

func (h *host) setUp([]PortConfig) error { return nil }
