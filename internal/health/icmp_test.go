package health

import (
	"encoding/hex"
	"net"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"
)

func TestEchoRequestIsWhatOthersRead(t *testing.T) {
	e := echoFor(target(t, "10.20.0.2:8080", time.Second), epoch)
	p := gopacket.NewPacket(e.request(), layers.LayerTypeICMPv4, gopacket.Default)
	require.Nil(t, p.ErrorLayer())
	m := p.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4)
	require.Equal(t, layers.CreateICMPv4TypeCode(layers.ICMPv4TypeEchoRequest, 0), m.TypeCode)
	require.Equal(t, []any{e.id, e.seq, e.data}, []any{m.Id, m.Seq, m.Payload})

	buf := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{ComputeChecksums: true}, m, gopacket.Payload(m.Payload)))
	require.Equal(t, hex.EncodeToString(buf.Bytes()), hex.EncodeToString(e.request()), "its checksum too")
}

func TestChecksum(t *testing.T) {
	for _, row := range []struct {
		text string
		want uint16
	}{
		{"", 0xffff},
		{"0001f203f4f5f6f7", 0x220d}, // RFC 1071, section 3: the sum is ddf2
		{"0001f203f4f5f6", 0x2304},
		{"ffffffff", 0},
	} {
		m, err := hex.DecodeString(row.text)
		require.NoError(t, err)
		require.Equal(t, row.want, checksum(m), row.text)
	}
}

func TestOnlyItsOwnReplyAnswersAnEcho(t *testing.T) {
	to := target(t, "10.20.0.2:8080", time.Second)
	e := echoFor(to, epoch)
	reply := func(change func([]byte)) []byte {
		m := e.request()
		m[0] = echoReply
		change(m)
		return m
	}
	require.True(t, e.answeredBy(reply(func([]byte) {})))
	require.True(t, e.answeredBy(reply(func(m []byte) { m[4]++ })), "the identifier is the system's")
	for why, m := range map[string][]byte{
		"the request itself, as a raw socket on loopback sees it": e.request(),
		"another code":            reply(func(m []byte) { m[1] = 1 }),
		"another sequence number": reply(func(m []byte) { m[7]++ }),
		"other data":              reply(func(m []byte) { m[len(m)-1]++ }),
		"unreachable":             {3, 1, 0, 0, 0, 0, 0, 0},
		"short":                   {0, 0, 0},
		"nothing":                 nil,
	} {
		require.False(t, e.answeredBy(m), why)
	}
	for _, other := range []echo{echoFor(to, epoch.Add(1)), echoFor(target(t, "10.20.0.3:8080", time.Second), epoch)} {
		require.False(t, other.answeredBy(reply(func([]byte) {})))
	}
	require.Equal(t, e, echoFor(to, epoch), "the same at the same moment: two runs of a story are alike")
}

func TestICMPOverADialFunction(t *testing.T) {
	to := target(t, "10.20.0.2:0", patient)
	chatty := piped(func(c net.Conn) {
		buf := make([]byte, 1500)
		n, _ := c.Read(buf)
		c.Write([]byte{3, 1, 0, 0}) // not for us
		c.Write(buf[:n])            // our own request
		buf[0] = echoReply
		c.Write(buf[:n])
	})
	requireResult(t, Passed, "", ICMP{chatty}.Probe(t.Context(), to))
	requireTimeout(t, "no answer", ICMP{piped(mute)})
}
