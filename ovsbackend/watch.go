package ovsbackend

import (
	"context"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/ovsproto"
)

const (
	echoEvery = time.Second            // how often a quiet switch is asked whether it lives
	deadAfter = 3 * time.Second        // how long it may be silent
	retryMin  = 20 * time.Millisecond  // the first pause between attempts to connect
	retryMax  = 500 * time.Millisecond // the longest
)

// connect opens the connection that stays open, whose end tells the switch's. When it returns, the switch sends on it
// what happens.
func (b *Bridge) connect(ctx context.Context) (*ovsproto.Session, error) {
	path := b.config.managementSocket()
	if err := b.link.mayConnect(); err != nil {
		return nil, err
	}
	conn, err := ovsproto.Dial(ctx, path)
	if err != nil {
		return nil, unavailable(ctx, "connect to "+path, err)
	}
	if err := conn.Barrier(ctx, ovsproto.WantPackets()); err != nil {
		conn.Close()
		return nil, unavailable(ctx, "connect to "+path, err)
	}
	return ovsproto.NewSession(conn), nil
}

// watchSwitch turns what happens on the connection, and its end, into events until the Bridge is closed.
func (b *Bridge) watchSwitch(session *ovsproto.Session) {
	for session != nil {
		b.link.up(session)
		b.events.Put(datapath.Event{Kind: datapath.Connected})
		b.listen(session)
		b.link.down()
		if b.life.Err() != nil {
			return
		}
		b.events.Put(datapath.Event{Kind: datapath.Disconnected})
		if session = retry(b, b.connect); session != nil {
			b.workers.Go(b.repairSwitch)
		}
	}
}

// retry tries until it works, with growing pauses. It returns the zero value if the Bridge is closed.
func retry[T any](b *Bridge, try func(context.Context) (T, error)) (result T) {
	pause := retryMin
	for {
		err := b.do(b.life, "reconnect", func(ctx context.Context) (err error) {
			result, err = try(ctx)
			return err
		})
		if err == nil {
			return result
		}
		select {
		case <-b.life.Done():
			var none T
			return none
		case <-time.After(pause):
			pause = min(2*pause, retryMax)
		}
	}
}

// listen reads until the connection ends, the switch is silent for too long, or the Bridge is closed.
func (b *Bridge) listen(session *ovsproto.Session) {
	heard := make(chan struct{}, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			m, err := session.Next(b.life)
			if err != nil {
				return
			}
			b.hear(m)
			select {
			case heard <- struct{}{}:
			default:
			}
		}
	}()
	b.nag(session, heard, read)
	session.Close()
	<-read
}

// nag returns when the reader has ended or has heard nothing in spite of being asked.
func (b *Bridge) nag(session *ovsproto.Session, heard, ended <-chan struct{}) {
	tick := time.NewTicker(echoEvery)
	defer tick.Stop()
	silence := time.Duration(0)
	for {
		select {
		case <-ended:
			return
		case <-heard:
			silence = 0
		case <-tick.C:
			if silence += echoEvery; silence > deadAfter {
				return
			}
			ctx, cancel := context.WithTimeout(b.life, echoEvery)
			_ = session.Send(ctx, ovsproto.Message{Type: ovsproto.EchoRequest}) // a failure shows as silence
			cancel()
		}
	}
}

// hear turns a message into an event, if it is one.
func (b *Bridge) hear(m ovsproto.Message) {
	switch m.Type {
	case ovsproto.PacketIn:
		if p, err := m.Packet(); err == nil { // what cannot be read is no frame for us
			b.events.Put(datapath.Event{Kind: datapath.PacketIn, Reason: packetInReason(p.Reason),
				Packet: datapath.Injection{InPort: openflow.PortNo(p.InPort), Frame: p.Frame}})
		}
	case ovsproto.PortStatus:
		if p, err := m.PortChange(); err == nil {
			b.portChanged(p)
			b.events.Put(datapath.Event{Kind: datapath.PortStatus, Port: datapath.Port{Number: openflow.PortNo(p.Number), Name: p.Name}})
		}
	}
}

// packetInReason folds the finer reasons of OpenFlow 1.4 (action set, group, packet-out) into "action".
func packetInReason(reason uint8) openflow.PacketInReason {
	if r := openflow.PacketInReason(reason); r <= openflow.ReasonInvalidTTL {
		return r
	}
	return openflow.ReasonAction
}
