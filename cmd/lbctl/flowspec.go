package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/replay"
)

// spec is a flow that describes a frame, and which of its conditions have been built in.
type spec struct {
	match openflow.Match
	used  map[openflow.Field]bool
}

// buildFrame makes a well-formed frame of a flow such as "in_port=pub0,tcp,nw_dst=10.0.0.1,tp_dst=80".
// What the flow leaves open is filled in; what a frame cannot carry is an error that names it.
func buildFrame(n site, text string) (replay.Frame, error) {
	m, err := openflow.ParseMatch(text, openflow.WithPorts(numbers(n.Ports)))
	if err != nil {
		return replay.Frame{}, fmt.Errorf("read flow: %w", err)
	}
	s := spec{m, map[openflow.Field]bool{}}
	port, given := s.take(openflow.InPort)
	if !given {
		return replay.Frame{}, fmt.Errorf("build frame: in_port is missing: say where the frame enters")
	}
	if err := known(n, openflow.PortNo(port.Lo)); err != nil {
		return replay.Frame{}, err
	}
	b := builder{spec: s, from: station{n, openflow.PortNo(port.Lo)}}
	data, err := b.build()
	if err != nil {
		return replay.Frame{}, err
	}
	frame := replay.Frame{Port: openflow.PortNo(port.Lo)}
	frame.Data = data
	return frame, errors.Join(s.checkRest(), s.checkMasks())
}

func known(n site, port openflow.PortNo) error {
	_, err := n.Port(n.PortName(port))
	return err
}

// ranged are fields whose condition may leave bits open, which are then zero.
var ranged = map[openflow.Field]bool{openflow.TCPFlags: true, openflow.VLANTCI: true, openflow.IPFrag: true}

// checkRest refuses conditions that were not built in.
func (s spec) checkRest() error {
	var rest []string
	for _, t := range s.match.Terms() {
		if !s.used[t.Field] {
			rest = append(rest, t.Field.String())
		}
	}
	if rest != nil {
		return fmt.Errorf("build frame: %s: no frame carries that from the wire, or it cannot be built here: leave it out", strings.Join(rest, ", "))
	}
	return nil
}

// checkMasks refuses conditions that many values satisfy.
func (s spec) checkMasks() error {
	for _, t := range s.match.Terms() {
		if s.used[t.Field] && t.Mask != t.Field.Mask() && !ranged[t.Field] {
			return fmt.Errorf("build frame: %v has a mask, but a frame has one value: write it without", t.Field)
		}
	}
	if ttl := s.match.Get(openflow.IPTTL); !ttl.Mask.IsZero() && ttl.Value.IsZero() {
		return fmt.Errorf("build frame: nw_ttl=0 is on no wire: write 1 or more")
	}
	return nil
}

// take returns a field's value, if the flow gives one.
func (s spec) take(f openflow.Field) (v openflow.Value, given bool) {
	t := s.match.Get(f)
	if t.Mask.IsZero() {
		return v, false
	}
	s.used[f] = true
	return t.Value, true
}

// number is a field's value, or what else it is.
func (s spec) number(f openflow.Field, otherwise uint64) uint64 {
	if v, given := s.take(f); given {
		return v.Lo
	}
	return otherwise
}

// mac is likewise.
func (s spec) mac(f openflow.Field, otherwise func() packet.MAC) packet.MAC {
	v, given := s.take(f)
	if !given {
		return otherwise()
	}
	b := binary.BigEndian.AppendUint64(nil, v.Lo)
	return packet.MAC(b[2:])
}

// addr4 and addr6 are likewise.
func (s spec) addr4(f openflow.Field, otherwise func() netip.Addr) netip.Addr {
	v, given := s.take(f)
	if !given {
		return otherwise()
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(v.Lo))))
}

func (s spec) addr6(f openflow.Field, otherwise func() netip.Addr) netip.Addr {
	v, given := s.take(f)
	if !given {
		return otherwise()
	}
	return netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, v.Hi), v.Lo)))
}

// need is the error of a condition without which there is no frame.
func (s spec) need(f openflow.Field, name, why string) error {
	if s.match.Get(f).Mask.IsZero() {
		return fmt.Errorf("build frame: %s is missing: %s", name, why)
	}
	return nil
}
