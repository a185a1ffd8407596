package ovsproto

import (
	"context"
	"encoding/binary"
	"fmt"
)

// BundleError says which change of a bundle was refused.
type BundleError struct {
	Index int // -1 if it was not one of the changes
	Err   *RefusedError
}

// Error names the change and the reason.
func (e *BundleError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("bundle: %v", e.Err)
	}
	return fmt.Sprintf("bundle: change %d: %v", e.Index+1, e.Err)
}

// Unwrap is the reason.
func (e *BundleError) Unwrap() error { return e.Err }

// Bundle is a bundle that is open at the bridge: all changes have arrived there, none has taken effect (section 7.3.9).
type Bundle struct {
	call *call
	id   uint32
	n    int // changes
}

// Types of OFPT_BUNDLE_CONTROL, the flags of our bundles, and the length of what precedes a change in a message.
const (
	bundleOpen        = 0
	bundleCommit      = 4
	bundleCommitReply = 5
	bundleDiscard     = 6
	bundleFlags       = 1 | 2 // atomic, ordered
	bundleAddHeader   = headerLength + 8 + headerLength
)

// OpenBundle sends changes, bodies of OFPT_FLOW_MOD, and returns when the bridge has looked at each of them. What it
// refuses is a *BundleError. As long as Commit is not called, nothing changes, whatever happens. Without an error, the
// caller must call Close.
func (s *Session) OpenBundle(ctx context.Context, changes [][]byte) (*Bundle, error) {
	c, err := s.begin(len(changes) + 4)
	if err != nil {
		return nil, err
	}
	b := &Bundle{c, c.first, len(changes)}
	if err := b.fill(ctx, changes); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// The transaction ids: of opening, of the changes, of the barrier, of the commit, of discarding.
func (b *Bundle) barrier() uint32 { return b.call.last - 2 }
func (b *Bundle) commit() uint32  { return b.call.last - 1 }
func (b *Bundle) discard() uint32 { return b.call.last }

func (b *Bundle) fill(ctx context.Context, changes [][]byte) error {
	out := b.control(nil, b.call.first, bundleOpen)
	for i, body := range changes {
		out = b.add(out, b.call.first+1+uint32(i), body)
	}
	out = append(out, Message{Type: BarrierRequest, XID: b.barrier()}.Bytes()...)
	if err := b.call.session.write(ctx, out); err != nil {
		return err
	}
	var refused *BundleError
	for {
		m, err := b.call.next(ctx)
		switch {
		case err != nil:
			return err
		case m.Type == Error && refused == nil:
			refused = b.refusal(m)
		case m.Type != BarrierReply:
		case refused != nil:
			_ = b.call.session.write(ctx, b.control(nil, b.discard(), bundleDiscard)) // or it times out
			return refused
		default:
			return nil
		}
	}
}

// Commit makes all changes take effect at once, or none: then the error is a *BundleError. With any other error, it is
// not known whether they have.
func (b *Bundle) Commit(ctx context.Context) error {
	if err := b.call.session.write(ctx, b.control(nil, b.commit(), bundleCommit)); err != nil {
		return err
	}
	var refused *BundleError
	for {
		m, err := b.call.next(ctx)
		switch {
		case err != nil:
			return err
		case m.Type == BundleControl && len(m.Body) >= 6 && binary.BigEndian.Uint16(m.Body[4:]) == bundleCommitReply:
			return nil
		case m.Type == Error && refused == nil:
			refused = b.refusal(m)
		}
		if m.Type == Error && m.XID == b.commit() { // comes last
			return refused
		}
	}
}

// Close forgets the bundle. One that was not committed ends at the bridge with the connection, or after some seconds.
func (b *Bundle) Close() { b.call.end() }

func (b *Bundle) refusal(m Message) *BundleError {
	index := int(m.XID) - int(b.call.first) - 1
	if index < 0 || index >= b.n {
		index = -1
	}
	return &BundleError{index, refusal(m.Body)}
}

// control appends an OFPT_BUNDLE_CONTROL.
func (b *Bundle) control(out []byte, xid uint32, kind uint16) []byte {
	body := binary.BigEndian.AppendUint32(nil, b.id)
	body = binary.BigEndian.AppendUint16(body, kind)
	return append(out, Message{BundleControl, xid, binary.BigEndian.AppendUint16(body, bundleFlags)}.Bytes()...)
}

// add appends an OFPT_BUNDLE_ADD_MESSAGE with a change in it, which has the same transaction id.
func (b *Bundle) add(out []byte, xid uint32, body []byte) []byte {
	out = appendHeader(out, BundleAdd, xid, bundleAddHeader-headerLength+len(body))
	out = binary.BigEndian.AppendUint32(out, b.id)
	out = binary.BigEndian.AppendUint32(out, bundleFlags)
	out = appendHeader(out, FlowMod, xid, len(body))
	return append(out, body...)
}
