package health

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/fnv"
	"time"
)

// ICMP probes with an echo request (RFC 792): the member's host passes if it answers. The target's port does not matter.
//
// On Linux that takes either a ping socket, which the sysctl net.ipv4.ping_group_range grants to groups of users, or a raw
// one, which takes CAP_NET_RAW; elsewhere a raw one. Where neither is permitted the result is NotProbed and says so.
type ICMP struct {
	Dial Dial // nil stands for NetDial
}

// Probe implements [Prober].
func (p ICMP) Probe(ctx context.Context, t Target) Result {
	return timed(ctx, t, func(ctx context.Context) error {
		conn, closeConn, err := p.Dial.open(ctx, "icmp", t)
		if err != nil {
			return err
		}
		defer closeConn()
		sent := echoFor(t, time.Now())
		if _, err := conn.Write(sent.request()); err != nil {
			return during("not sent", err)
		}
		buf := make([]byte, maxReply)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return during("no answer", err)
			}
			if sent.answeredBy(buf[:n]) {
				return nil
			}
		}
	})
}

// The types of ICMP messages used here.
const (
	echoReply   = 0
	echoRequest = 8
)

const echoHeader = 8 // bytes before the data: type, code, checksum, identifier, sequence number

// An echo is what an echo request carries and its reply returns. The identifier is not among what is compared: the system
// sets it on a ping socket.
type echo struct {
	id, seq uint16
	data    []byte
}

// echoFor returns an echo that belongs to this target and moment alone: a raw socket sees the replies to all who ask.
func echoFor(t Target, at time.Time) echo {
	h := fnv.New64a()
	h.Write([]byte(t.Source.String() + " " + t.Address.String()))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
	sum := h.Sum64()
	return echo{id: uint16(sum >> 16), seq: uint16(sum), data: binary.BigEndian.AppendUint64([]byte("hpnn-health "), sum)}
}

// request returns the ICMP message, with its checksum.
func (e echo) request() []byte {
	m := []byte{echoRequest, 0, 0, 0}
	m = binary.BigEndian.AppendUint16(m, e.id)
	m = binary.BigEndian.AppendUint16(m, e.seq)
	m = append(m, e.data...)
	binary.BigEndian.PutUint16(m[2:], checksum(m))
	return m
}

// answeredBy reports whether the message is the reply to the echo. A raw socket gets messages whose checksum nobody has
// checked; that the data are the same says more.
func (e echo) answeredBy(m []byte) bool {
	return len(m) >= echoHeader && m[0] == echoReply && m[1] == 0 &&
		binary.BigEndian.Uint16(m[6:]) == e.seq && bytes.Equal(m[echoHeader:], e.data)
}

// checksum is the Internet checksum (RFC 1071) of a message whose own checksum is zero.
func checksum(m []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(m); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(m[i:]))
	}
	if len(m)%2 == 1 {
		sum += uint32(m[len(m)-1]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
