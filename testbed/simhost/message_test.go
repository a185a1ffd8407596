package simhost

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBodyInPieces cuts answers at every place: what comes out does not depend on it.
func TestBodyInPieces(t *testing.T) {
	for _, c := range []struct{ name, header, body, want, rest string }{
		{"length", "Content-Length: 5\r\n", "hello", "hello", ""},
		{"length, more follows", "Content-Length: 5\r\n", "helloHTTP", "hello", "HTTP"},
		{"empty", "Content-Length: 0\r\n", "", "", ""},
		{"chunks", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n", "hello world", ""},
		{"chunks, trailer, more", "Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\nA: b\r\n\r\nHTTP", "x", "HTTP"},
		{"until the end", "", "all of it", "all of it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r headReader
			text := []byte("HTTP/1.1 200 OK\r\n" + c.header + "\r\n")
			h, err := head(text)
			require.NoError(t, err)
			p, err := r.response(h, http.MethodGet)
			require.NoError(t, err)
			for size := 1; size <= len(c.body)+1; size++ {
				b := newBody(p, http.MethodGet)
				var in []byte
				for rest := c.body; rest != ""; {
					n := min(size, len(rest))
					in, err = b.feed(append(in, rest[:n]...))
					require.NoError(t, err)
					rest = rest[n:]
				}
				require.NoError(t, b.eof())
				require.True(t, b.done)
				require.Equal(t, c.want, string(b.data))
				require.Equal(t, c.rest, string(in))
			}
		})
	}
}

func TestBodyCutShort(t *testing.T) {
	b := body{left: 5}
	_, err := b.feed([]byte("hell"))
	require.NoError(t, err)
	require.ErrorIs(t, b.eof(), io.ErrUnexpectedEOF)
	b = body{chunked: true}
	_, err = b.feed([]byte("zz\r\n"))
	require.ErrorContains(t, err, `parse chunk size "zz"`)
	b = body{chunked: true}
	_, err = b.feed([]byte(strings.Repeat("1", maxHead+1)))
	require.ErrorIs(t, err, errHead)
}

func TestHead(t *testing.T) {
	h, err := head([]byte("GET / HTTP/1.1\r\n\r\nbody"))
	require.NoError(t, err)
	require.Equal(t, "GET / HTTP/1.1\r\n\r\n", string(h))
	h, err = head([]byte("GET / HTTP/1.1\r\n\r"))
	require.NoError(t, err)
	require.Nil(t, h)
	_, err = head([]byte(strings.Repeat("x", maxHead+1)))
	require.ErrorIs(t, err, errHead)
	var r headReader
	_, err = r.request([]byte("nonsense\r\n\r\n"))
	require.ErrorContains(t, err, "parse request")
	_, err = r.request([]byte("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"))
	require.ErrorContains(t, err, "without Content-Length")
	_, err = r.response([]byte("nonsense\r\n\r\n"), http.MethodGet)
	require.ErrorContains(t, err, "parse response")
}
