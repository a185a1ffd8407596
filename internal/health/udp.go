package health

import (
	"context"
	"strconv"
	"strings"
)

// UDP probes with a datagram: the member passes if it answers, and the answer begins as expected. Silence is a failure - it
// cannot be told from a dead member - and so is an ICMP unreachable, which is noticed at once.
type UDP struct {
	Dial    Dial   // nil stands for NetDial
	Payload string // what is sent; may be empty
	Reply   string // what the answer must begin with; empty accepts any answer
}

// maxReply is how much of an answer is read: more than the model lets a monitor expect.
const maxReply = 2048

// Probe implements [Prober].
func (p UDP) Probe(ctx context.Context, t Target) Result {
	return timed(ctx, t, func(ctx context.Context) error {
		conn, closeConn, err := p.Dial.open(ctx, "udp", t)
		if err != nil {
			return err
		}
		defer closeConn()
		if _, err := conn.Write([]byte(p.Payload)); err != nil {
			return during("not sent", err)
		}
		buf := make([]byte, maxReply)
		n, err := conn.Read(buf)
		if err != nil {
			return during("no answer", err)
		}
		if reply := string(buf[:n]); !strings.HasPrefix(reply, p.Reply) {
			return unwanted("reply %s, want %s", excerpt(reply), excerpt(p.Reply))
		}
		return nil
	})
}

// excerpt quotes the beginning of a text.
func excerpt(s string) string {
	const enough = 32
	if len(s) > enough {
		return strconv.QuoteToASCII(s[:enough]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
