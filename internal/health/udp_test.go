package health

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// echoing answers every datagram with a function of it, until the test ends; an empty answer is sent, nil is not.
func echoing(t *testing.T, answer func(string) []byte) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			if a := answer(string(buf[:n])); a != nil {
				c.WriteTo(a, from)
			}
		}
	}()
	return c.LocalAddr().String()
}

func TestUDP(t *testing.T) {
	address := echoing(t, func(q string) []byte {
		switch q {
		case "ping\x00\n":
			return []byte("pong\x00 and more")
		case "empty":
			return []byte{}
		case "long":
			return []byte(strings.Repeat("x", 4000))
		case "":
			return []byte("you said nothing")
		}
		return nil
	})
	to := target(t, address, patient)
	for _, row := range []struct {
		payload, reply string
		outcome        Outcome
		detail         string
	}{
		{"ping\x00\n", "pong\x00", Passed, ""},
		{"ping\x00\n", "", Passed, ""},
		{"ping\x00\n", "PONG", Unwanted, `reply "pong\x00 and more", want "PONG"`},
		{"ping\x00\n", "pong\x00 and more than that", Unwanted, `reply "pong\x00 and more", want "pong\x00 and more than that"`},
		{"empty", "", Passed, ""},
		{"empty", "x", Unwanted, `reply "", want "x"`},
		{"long", "xxxx", Passed, ""},
		{"long", "y", Unwanted, `reply "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…, want "y"`},
		{"", "you", Passed, ""},
	} {
		requireResult(t, row.outcome, row.detail, UDP{Payload: row.payload, Reply: row.reply}.Probe(t.Context(), to))
	}
	requireTimeout(t, "no answer", UDP{Dial: piped(mute), Payload: "ping"})
}

// The kernel answers for a port nobody has: the probe does not wait for its timeout.
func TestUDPUnreachable(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	address := c.LocalAddr().String()
	c.Close()
	got := UDP{Payload: "ping"}.Probe(t.Context(), target(t, address, patient))
	requireResult(t, Refused, "connection refused", got)
	require.Less(t, got.Latency, patient)
}
