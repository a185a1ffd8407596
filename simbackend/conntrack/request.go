package conntrack

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// Label is a 128-bit ct_label.
type Label struct{ Hi, Lo uint64 }

// String prints the label in hexadecimal without leading zeros, "0xabc".
func (l Label) String() string { return string(l.Append(nil)) }

// Append appends what String returns.
func (l Label) Append(b []byte) []byte {
	b = append(b, "0x"...)
	if l.Hi == 0 {
		return strconv.AppendUint(b, l.Lo, 16)
	}
	return fmt.Appendf(b, "%x%016x", l.Hi, l.Lo)
}

// set replaces the bits of l under mask with those of v.
func (l Label) set(v, mask Label) Label {
	return Label{
		Hi: v.Hi&mask.Hi | l.Hi&^mask.Hi,
		Lo: v.Lo&mask.Lo | l.Lo&^mask.Lo,
	}
}

// NATKind says which nat argument a ct() has.
type NATKind uint8

// Possible NATKind values.
const (
	NATNone     NATKind = iota // no nat: never translates
	NATExisting                // nat: translates packets of connections that have a mapping
	NATSrc                     // nat(src=...): new connections get a source mapping
	NATDst                     // nat(dst=...): new connections get a destination mapping
)

// NAT is the nat argument of a ct(). Addresses are in network order; the zero address
// keeps the packet's own. PortMin 0 means no port was given.
type NAT struct {
	Kind             NATKind
	AddrMin, AddrMax [4]byte
	PortMin, PortMax uint16
}

// String prints the argument as a ct() action does: "nat", "nat(dst=10.0.0.9:80)".
func (n NAT) String() string { return string(n.Append(nil)) }

// Append appends what String returns.
func (n NAT) Append(b []byte) []byte {
	switch n.Kind {
	case NATNone:
		return b
	case NATExisting:
		return append(b, "nat"...)
	case NATSrc:
		b = append(b, "nat(src"...)
	case NATDst:
		b = append(b, "nat(dst"...)
	}
	if n.AddrMin != [4]byte{} {
		b = netip.AddrFrom4(n.AddrMin).AppendTo(append(b, '='))
		if n.PortMin != 0 {
			b = strconv.AppendUint(append(b, ':'), uint64(n.PortMin), 10)
		}
	}
	return append(b, ')')
}

// Request is a ct() action: its arguments except table= (the caller's affair).
// Mark and Label are what exec(set_field) writes under their masks; a zero mask
// writes nothing.
type Request struct {
	Zone             uint16
	Commit           bool // commit: a new connection is entered into the table
	Force            bool // force: an entry of the other direction gives way
	NAT              NAT
	Mark, MarkMask   uint32
	Label, LabelMask Label
}

// Validate says why a request cannot be simulated, or nil. A switch refuses the flow
// then: OVS's own result would be chance (ranges are indexed by a hash with a random
// seed) or broken (commit,nat without a mapping makes an entry whose replies are lost).
func (r Request) Validate() error {
	switch {
	case r.Force && !r.Commit:
		return errors.New("check ct: force needs commit")
	case r.Commit && r.NAT.Kind == NATExisting:
		return errors.New("check ct: commit with a bare nat breaks new connections in OVS 3.1.0; " +
			"write commit without nat, or give nat(src=...) or nat(dst=...)")
	case !r.Commit && r.NAT.Kind > NATExisting:
		return errors.New("check ct: nat with a mapping needs commit")
	}
	return r.NAT.Validate()
}

// Validate says why the mapping is not reproducible, or nil.
func (n NAT) Validate() error {
	if n.Kind <= NATExisting {
		if n != (NAT{Kind: n.Kind}) {
			return errors.New("check nat: an address or port needs src or dst")
		}
		return nil
	}
	if n.AddrMax != ([4]byte{}) && n.AddrMax != n.AddrMin {
		return errors.New("check nat: an address range is spread by a random seed in OVS; give one address")
	}
	if n.PortMax != 0 && n.PortMax != n.PortMin {
		return errors.New("check nat: a port range is spread by a random seed in OVS; give one port")
	}
	if n.PortMin != 0 && n.AddrMin == ([4]byte{}) {
		return errors.New("check nat: a port needs an address")
	}
	return nil
}
