package ovsproto

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
)

// anyPort asks for all ports.
const anyPort = 0xffffffff

// Port is a port's description (section 7.2.1).
type Port struct {
	Number uint32
	Name   string
}

// PortCounters are frames and bytes since the port exists (section 7.3.5.7).
type PortCounters struct {
	Number                               uint32
	RxFrames, TxFrames, RxBytes, TxBytes uint64
}

const (
	portLength      = 40 // without properties
	portNameOffset  = 16
	portNameLength  = 16
	countersLength  = 80 // likewise
	countersOffset  = 16
	portReasonBytes = 8 // reason and padding before the port of a port status
)

// Ports lists the ports of the bridge.
func (c *Conn) Ports(ctx context.Context) ([]Port, error) {
	var ports []Port
	err := c.each(ctx, PortDesc, anyPort, func(b []byte) (int, error) {
		p, n, err := parsePort(b)
		ports = append(ports, p)
		return n, err
	})
	return ports, err
}

// Counters lists what the ports of the bridge counted.
func (c *Conn) Counters(ctx context.Context) ([]PortCounters, error) { return c.counters(ctx, anyPort) }

// PortCounters are those of one port. A port that is not there is a *RefusedError.
func (c *Conn) PortCounters(ctx context.Context, port uint32) (PortCounters, error) {
	all, err := c.counters(ctx, port)
	switch {
	case err != nil:
		return PortCounters{}, err
	case len(all) != 1:
		return PortCounters{}, fmt.Errorf("ask for counters of port %d: got those of %d ports", port, len(all))
	}
	return all[0], nil
}

func (c *Conn) counters(ctx context.Context, port uint32) (all []PortCounters, err error) {
	err = c.each(ctx, PortStats, port, func(b []byte) (int, error) {
		if len(b) < countersLength {
			return 0, fmt.Errorf("read port counters: %d bytes are too few", len(b))
		}
		n := func(i int) uint64 { return binary.BigEndian.Uint64(b[countersOffset+8*i:]) }
		all = append(all, PortCounters{binary.BigEndian.Uint32(b[4:]), n(0), n(1), n(2), n(3)})
		return int(binary.BigEndian.Uint16(b)), nil
	})
	return all, err
}

// each asks about a port, or all, and hands the rest of a reply to read until nothing is left; read
// returns the length of the part it has read.
func (c *Conn) each(ctx context.Context, t MultipartType, port uint32, read func([]byte) (int, error)) error {
	replies, err := c.Multipart(ctx, t, append(binary.BigEndian.AppendUint32(nil, port), 0, 0, 0, 0))
	if err != nil {
		return err
	}
	for _, b := range replies {
		for len(b) > 0 {
			n, err := read(b)
			if err != nil {
				return err
			}
			if n <= 0 || n > len(b) {
				return fmt.Errorf("read multipart reply %d: part of %d bytes where %d are left", t, n, len(b))
			}
			b = b[n:]
		}
	}
	return nil
}

// parsePort reads a port from the beginning of b and returns its length with all properties.
func parsePort(b []byte) (Port, int, error) {
	if len(b) < portLength {
		return Port{}, 0, fmt.Errorf("read port: %d bytes are too few", len(b))
	}
	name, _, _ := bytes.Cut(b[portNameOffset:portNameOffset+portNameLength], []byte{0})
	return Port{binary.BigEndian.Uint32(b), string(name)}, int(binary.BigEndian.Uint16(b[4:])), nil
}

// PortChange is what a PortStatus message says: that a port was added, removed or changed.
func (m Message) PortChange() (Port, error) {
	if m.Type != PortStatus || len(m.Body) < portReasonBytes {
		return Port{}, fmt.Errorf("read port status: message type %d of %d bytes", m.Type, len(m.Body))
	}
	p, _, err := parsePort(m.Body[portReasonBytes:])
	return p, err
}
