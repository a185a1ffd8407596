package ovsproto

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// share makes a Session whose messages are read until it ends. The channel has what nobody asked for.
func share(t *testing.T) (*Session, peer, chan Message) {
	t.Helper()
	c, p := connect(t)
	s := NewSession(c)
	others := make(chan Message, 100)
	go func() {
		defer close(others)
		for {
			m, err := s.Next(context.Background())
			if err != nil {
				return
			}
			others <- m
		}
	}()
	return s, p, others
}

// bundleKind is the type of an OFPT_BUNDLE_CONTROL.
func bundleKind(m Message) uint16 { return binary.BigEndian.Uint16(m.Body[4:]) }

// committed is the reply to a commit.
func committed(m Message) Message {
	m.Body = slices.Clone(m.Body)
	binary.BigEndian.PutUint16(m.Body[4:], bundleCommitReply)
	return m
}

func failed(m Message, kind, code byte) Message {
	return Message{Type: Error, XID: m.XID, Body: []byte{0, kind, 0, code}}
}

func commit(ctx context.Context, s *Session, changes ...string) error {
	var bodies [][]byte
	for _, c := range changes {
		bodies = append(bodies, []byte(c))
	}
	b, err := s.OpenBundle(ctx, bodies)
	if err != nil {
		return err
	}
	defer b.Close()
	return b.Commit(ctx)
}

func TestBundleIsOpenedFilledAndCommitted(t *testing.T) {
	s, p, _ := share(t)
	seen := make(chan Message, 10)
	go func() {
		for range 4 {
			seen <- p.read()
		}
		barrier := p.read()
		seen <- barrier
		p.write(Message{Type: PacketIn}, Message{Type: BarrierReply, XID: barrier.XID})
		last := p.read()
		seen <- last
		p.write(committed(last))
	}()
	require.NoError(t, commit(t.Context(), s, "first", "second", "third"))
	opening := <-seen
	require.Equal(t, BundleControl, opening.Type)
	require.EqualValues(t, bundleOpen, bundleKind(opening))
	for i, change := range []string{"first", "second", "third"} {
		m := <-seen
		require.Equal(t, BundleAdd, m.Type)
		require.Equal(t, opening.Body[:4], m.Body[:4], "the same bundle")
		require.Equal(t, opening.XID+1+uint32(i), m.XID)
		require.Equal(t, Message{FlowMod, m.XID, []byte(change)}.Bytes(), m.Body[8:])
	}
	require.Equal(t, BarrierRequest, (<-seen).Type)
	require.EqualValues(t, bundleCommit, bundleKind(<-seen))
}

func TestChangeIsRefusedWhenItArrives(t *testing.T) {
	s, p, _ := share(t)
	discarded := make(chan Message)
	go func() {
		p.read()
		p.read()
		bad := p.read()
		p.write(failed(bad, 5, 2), failed(p.read(), 5, 3), Message{Type: BarrierReply, XID: p.read().XID})
		discarded <- p.read()
	}()
	err := commit(t.Context(), s, "good", "bad", "worse")
	var refused *BundleError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 1, refused.Index)
	require.EqualError(t, err, "bundle: change 2: openflow: OFPFMFC_BAD_TABLE_ID")
	require.EqualValues(t, bundleDiscard, bundleKind(<-discarded))
	require.Empty(t, s.calls)
}

func TestChangeIsRefusedAtTheCommit(t *testing.T) {
	for name, who := range map[string]int{"a change": 1, "the commit itself": -1} {
		s, p, _ := share(t)
		go func() {
			var all []Message
			for range 3 {
				all = append(all, p.read())
			}
			p.write(Message{Type: BarrierReply, XID: p.read().XID})
			last := p.read()
			if who >= 0 {
				p.write(failed(all[1+who], 5, 1))
			}
			p.write(failed(last, 17, 13))
		}()
		var refused *BundleError
		require.ErrorAs(t, commit(t.Context(), s, "good", "bad"), &refused, name)
		require.Equal(t, who, refused.Index, name)
	}
}

// Whatever the moment, a connection that breaks ends the calls over it, and the calls after it.
func TestLostSessionEndsItsCalls(t *testing.T) {
	for read := range 5 { // messages before the end
		s, p, others := share(t)
		go func() {
			for range read {
				if m := p.read(); m.Type == BarrierRequest {
					p.write(Message{Type: BarrierReply, XID: m.XID})
				}
			}
			_ = p.conn.Close()
		}()
		require.ErrorIs(t, commit(t.Context(), s, "change"), ErrLost, "after %d messages", read)
		for range others { // until it is over
		}
		require.ErrorIs(t, s.Multipart(t.Context(), FlowDesc, nil, nil), ErrLost)
		_, err := s.OpenBundle(t.Context(), nil)
		require.ErrorIs(t, err, ErrLost)
	}
}

// A caller who gives up leaves the session as it was; replies to it are dropped.
func TestCallerGivesUp(t *testing.T) {
	s, p, others := share(t)
	asked := make(chan Message)
	go func() { asked <- p.read() }()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.Multipart(ctx, FlowDesc, nil, nil) }()
	question := <-asked
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	for range 40 { // more than there is room for
		p.write(Message{Type: MultipartReply, XID: question.XID, Body: make([]byte, 8)})
		<-others
	}
	go func() {
		m := p.read()
		p.write(Message{Type: MultipartReply, XID: m.XID, Body: []byte("12\x00\x005678answer")})
	}()
	require.NoError(t, s.Multipart(t.Context(), FlowDesc, nil, func(b []byte) error {
		require.Equal(t, "answer", string(b))
		return nil
	}))
}

func TestErrorOfTheReaderEndsTheCall(t *testing.T) {
	s, p, _ := share(t)
	go func() {
		m := p.read()
		p.write(Message{Type: MultipartReply, XID: m.XID, Body: []byte{0, 1, 0, more, 0, 0, 0, 0}})
	}()
	bad := errors.New("bad")
	require.ErrorIs(t, s.Multipart(t.Context(), FlowDesc, nil, func([]byte) error { return bad }), bad)
	require.Empty(t, s.calls)
}

// Everybody gets the answers to their own questions, whatever the order.
func TestSessionIsShared(t *testing.T) {
	s, p, others := share(t)
	go func() {
		for range others {
		}
	}()
	const n = 20
	go func() {
		var questions []Message
		for range n {
			questions = append(questions, p.read())
		}
		for i := range questions {
			m := questions[n-1-i]
			p.write(Message{Type: MultipartReply, XID: m.XID, Body: m.Body})
		}
	}()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			question := fmt.Sprint("question ", i)
			err := s.Multipart(t.Context(), FlowDesc, []byte(question), func(b []byte) error {
				if string(b) != question {
					t.Errorf("%q is answered by %q", question, b)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// Half a message garbles all that follow: a caller whose time is over while it sends ends the session.
func TestBrokenOffSendingEndsTheSession(t *testing.T) {
	c, _ := connect(t) // whose peer does not read
	s := NewSession(c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := s.OpenBundle(ctx, [][]byte{{1}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Next(t.Context())
	require.Error(t, err)
	require.ErrorIs(t, s.Multipart(t.Context(), FlowDesc, nil, nil), ErrLost)
}

func TestTransactionIDsStartAnew(t *testing.T) {
	c, _ := connect(t)
	s := NewSession(c)
	s.xid = ^uint32(0) - 3
	call, err := s.begin(5)
	require.NoError(t, err)
	require.EqualValues(t, 1, call.first)
	require.EqualValues(t, 5, call.last)
}
