package bridgerpc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"hpnn/datapath"
)

const (
	retryMin = 20 * time.Millisecond  // the first pause between attempts to connect
	retryMax = 500 * time.Millisecond // the longest
)

// stream is a subscription to the server's events, whose end tells the server's.
type stream struct {
	body   io.ReadCloser
	events *json.Decoder
}

// subscribe connects and waits until the switch is there. The context bounds this only.
func (b *Bridge) subscribe(ctx context.Context) (*stream, error) {
	life, giveUp := context.WithCancel(b.life)
	defer context.AfterFunc(ctx, giveUp)()
	s, err := b.listen(life)
	if err == nil && b.config.Begin != nil {
		if err = b.config.Begin(); err != nil {
			_ = s.body.Close()
		}
	}
	if err != nil {
		giveUp()
		return nil, b.lost(ctx, err)
	}
	return s, nil
}

// listen reads until the first event that says that the switch is there.
func (b *Bridge) listen(ctx context.Context) (*stream, error) {
	reply, err := b.post(ctx, eventsPath, nothing{})
	if err != nil {
		return nil, err
	}
	s := &stream{reply.Body, json.NewDecoder(reply.Body)}
	for {
		var e datapath.Event
		if err := s.events.Decode(&e); err != nil {
			_ = s.body.Close()
			return nil, fmt.Errorf("wait for the switch: %w", err)
		}
		if e.Kind == datapath.Connected {
			return s, nil
		}
	}
}

// watch passes events on, and makes a new connection when one has ended, until the Bridge is closed.
func (b *Bridge) watch(s *stream) {
	for s != nil {
		b.events.Put(datapath.Event{Kind: datapath.Connected})
		b.pass(s)
		if b.life.Err() != nil {
			return
		}
		b.events.Put(datapath.Event{Kind: datapath.Disconnected})
		s = b.again()
	}
}

// pass passes events on until the connection ends or the switch behind the server is gone.
func (b *Bridge) pass(s *stream) {
	defer s.body.Close()
	for {
		var e datapath.Event
		if s.events.Decode(&e) != nil || e.Kind == datapath.Disconnected {
			return
		}
		b.events.Put(e)
	}
}

// again connects with growing pauses. It returns nil when the Bridge is closed.
func (b *Bridge) again() *stream {
	for pause := retryMin; ; pause = min(2*pause, retryMax) {
		if s, err := b.subscribe(b.life); err == nil {
			return s
		}
		select {
		case <-b.life.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
