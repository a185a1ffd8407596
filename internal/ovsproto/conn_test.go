package ovsproto

import (
	"context"
	"encoding/hex"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peer is the other end of a Conn: a bridge that does as the test says.
type peer struct {
	t    *testing.T
	conn net.Conn
}

// connect makes a Conn whose hello the peer has read.
func connect(t *testing.T) (*Conn, peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	p := peer{t, theirs}
	ready := make(chan *Conn)
	go func() {
		c, err := NewConn(context.Background(), ours)
		if err != nil {
			t.Error(err)
		}
		ready <- c
	}()
	if m := p.read(); m.Type != Hello {
		t.Errorf("the first message is %v", m)
	}
	c := <-ready
	t.Cleanup(func() { c.Close(); _ = theirs.Close() })
	return c, p
}

func (p peer) read() Message {
	m, err := readMessage(p.conn)
	if err != nil {
		p.t.Error(err)
	}
	return m
}

func (p peer) write(messages ...Message) {
	for _, m := range messages {
		if _, err := p.conn.Write(m.Bytes()); err != nil {
			p.t.Error(err)
		}
	}
}

func TestMessageIsReadAsWritten(t *testing.T) {
	c, p := connect(t)
	want := Message{Type: PacketIn, XID: 0x01020304, Body: []byte{1, 2, 3}}
	require.Equal(t, []byte{6, 10, 0, 11, 1, 2, 3, 4, 1, 2, 3}, want.Bytes())
	go p.write(want)
	got, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Panics(t, func() { Message{Body: make([]byte, 0x10000)}.Bytes() })
}

func TestMessageShorterThanItsHeaderIsAnError(t *testing.T) {
	c, p := connect(t)
	go func() { _, _ = p.conn.Write([]byte{6, 0, 0, 7, 0, 0, 0, 0}) }()
	_, err := c.Next(t.Context())
	require.ErrorContains(t, err, "shorter than its header")
}

func TestEchoesAreAnswered(t *testing.T) {
	c, p := connect(t)
	answer := make(chan Message, 1)
	go func() {
		p.write(Message{Type: EchoRequest, XID: 9, Body: []byte("alive?")})
		answer <- p.read()
		p.write(Message{Type: PortStatus, XID: 1})
	}()
	m, err := c.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, PortStatus, m.Type)
	require.Equal(t, Message{Type: EchoReply, XID: 9, Body: []byte("alive?")}, <-answer)
}

func TestBarrierTellsOfRefusals(t *testing.T) {
	c, p := connect(t)
	go func() {
		flow := p.read()
		barrier := p.read()
		p.write(Message{Type: Error, XID: flow.XID, Body: []byte{0, 5, 0, 2, 1, 1}}, Message{Type: PacketIn},
			Message{Type: Error, Body: []byte{0, 7, 0, 7}}, Message{Type: BarrierReply, XID: barrier.XID + 1}, Message{Type: BarrierReply, XID: barrier.XID})
	}()
	err := c.Barrier(t.Context(), Message{Type: FlowMod})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "OFPFMFC_BAD_TABLE_ID", refused.Words)
	require.False(t, refused.Disconnected())
	go func() { p.write(Message{Type: BarrierReply, XID: p.read().XID}) }()
	require.NoError(t, c.Barrier(t.Context()))
}

func TestRepliesInPartsAreGathered(t *testing.T) {
	c, p := connect(t)
	go func() {
		request := p.read()
		p.write(Message{Type: MultipartReply, XID: request.XID + 7, Body: make([]byte, 8)},
			Message{Type: MultipartReply, XID: request.XID, Body: []byte{0, 1, 0, 1, 0, 0, 0, 0, 'a'}},
			Message{Type: MultipartReply, XID: request.XID, Body: []byte{0, 1, 0, 0, 0, 0, 0, 0, 'b'}})
	}()
	replies, err := c.Multipart(t.Context(), FlowDesc, nil)
	require.NoError(t, err)
	require.Equal(t, [][]byte{{'a'}, {'b'}}, replies)
}

func TestMultipartRefusedOrGarbled(t *testing.T) {
	c, p := connect(t)
	for words, reply := range map[string]Message{
		"OFPBRC_BAD_STAT":      {Type: Error, Body: []byte{0, 1, 0, 2}},
		"error type 1 code 99": {Type: Error, Body: []byte{0, 1, 0, 99}},
		"NXBRC_MUST_BE_ZERO":   {Type: Error, Body: []byte{0xff, 0xff, 0, 4, 0, 0, 0x23, 0x20}},
		"type 65535 code 4":    {Type: Error, Body: []byte{0xff, 0xff, 0, 4, 0, 0, 0, 1}},
		"without a code":       {Type: Error},
		"message type 21":      {Type: BarrierReply},
		"of 3 bytes":           {Type: MultipartReply, Body: make([]byte, 3)},
	} {
		go func() {
			reply.XID = p.read().XID
			p.write(reply)
		}()
		_, err := c.Multipart(t.Context(), FlowDesc, nil)
		require.ErrorContains(t, err, words)
	}
}

func TestPortsThatDoNotFitTheirReply(t *testing.T) {
	c, p := connect(t)
	port := make([]byte, portLength)
	for words, body := range map[string][]byte{
		"too few":          make([]byte, 5),
		"part of 0 bytes":  port,
		"part of 50 bytes": append([]byte{0, 0, 0, 1, 0, 50}, port[6:]...),
	} {
		go func() {
			p.write(Message{Type: MultipartReply, XID: p.read().XID, Body: append([]byte{0, 13, 0, 0, 0, 0, 0, 0}, body...)})
		}()
		_, err := c.Ports(t.Context())
		require.ErrorContains(t, err, words)
	}
}

func TestOneSendsWhileAnotherReads(t *testing.T) {
	c, p := connect(t)
	read := make(chan error, 1)
	go func() {
		_, err := c.Next(context.Background())
		read <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Send(ctx, Message{Type: EchoRequest}), context.DeadlineExceeded, "the peer does not read")
	select {
	case err := <-read:
		require.Fail(t, "the reader was disturbed", "%v", err)
	default:
	}
	go p.write(Message{Type: PortStatus})
	require.NoError(t, <-read)
}

func TestContextEndsAWait(t *testing.T) {
	c, _ := connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestNilIsClosedAlready(t *testing.T) {
	(*Conn)(nil).Close()
	(*Control)(nil).Close()
}

// packetIn is a packet-in as Open vSwitch 3.1 sends it: from port 2 (of OXM in_port), by an action.
const packetIn = "ffffffff000a01030000000000000000" + "0001000c80000004" + "00000002" + "00000000" + "0000" + "0102030405060708090a"

func TestPacketInIsRead(t *testing.T) {
	body, err := hex.DecodeString(packetIn)
	require.NoError(t, err)
	p, err := Message{Type: PacketIn, Body: body}.Packet()
	require.NoError(t, err)
	require.Equal(t, Packet{InPort: 2, Reason: 1, Frame: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}, p)
	for n := range len(body) - 10 {
		_, err := Message{Type: PacketIn, Body: body[:n]}.Packet()
		require.Error(t, err, "%d bytes", n)
	}
	_, err = Message{Type: PortStatus, Body: body}.Packet()
	require.Error(t, err)
}

func TestPortStatusIsRead(t *testing.T) {
	body := append(make([]byte, portReasonBytes), 0, 0, 0, 7, 0, 40)
	body = append(body, make([]byte, portNameOffset-6)...)
	body = append(body, "up0\x00junk"...)
	body = append(body, make([]byte, portLength)...)
	p, err := Message{Type: PortStatus, Body: body}.PortChange()
	require.NoError(t, err)
	require.Equal(t, Port{7, "up0"}, p)
	_, err = Message{Type: PortStatus, Body: body[:20]}.PortChange()
	require.Error(t, err)
	_, err = Message{Type: PacketIn, Body: body}.PortChange()
	require.Error(t, err)
}

// Bytes as ovs-ofctl ct-flush sends them.
func TestFlushIsEncodedAsOVSDoes(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	for want, m := range map[string]Message{
		"00002320000000200000000000000000":                 FlushZone(0),
		"000023200000002000000000000000000002000600050000": FlushZone(5),
		"00002320000000201100000000000000" + "0000004800000000" + "0000001400000000000000000000ffff0a00000100000000" +
			"0001001400000000000000000000ffff0a00000200000000" + "0002000600010000" + "0003000600020000" + "0002000600070000": FlushConn(ConnTuple{Zone: 7, Proto: 17, Src: a, Dst: b, SrcPort: 1, DstPort: 2}),
	} {
		require.Equal(t, Experimenter, m.Type)
		require.Equal(t, want, hex.EncodeToString(m.Body))
	}
}

func FuzzMessages(f *testing.F) {
	body, _ := hex.DecodeString(packetIn)
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = Message{Type: PacketIn, Body: body}.Packet()
		_, _ = Message{Type: PortStatus, Body: body}.PortChange()
		_, _, _ = parsePort(body)
	})
}
