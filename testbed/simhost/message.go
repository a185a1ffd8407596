package simhost

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxHead bounds the header of a message.
const maxHead = 64 << 10

var errHead = errors.New("the header is longer than 64 KiB")

// head is the header at the front of b, up to and including the empty line; nil if it is not
// complete yet.
func head(b []byte) ([]byte, error) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	switch {
	case end >= 0 && end <= maxHead:
		return b[:end+4], nil
	case len(b) > maxHead:
		return nil, errHead
	}
	return nil, nil
}

// headReader gives the header of a message to package net/http.
type headReader struct {
	bytes  bytes.Reader
	buffer *bufio.Reader
}

func (r *headReader) over(head []byte) *bufio.Reader {
	r.bytes.Reset(head)
	if r.buffer == nil {
		r.buffer = bufio.NewReader(&r.bytes)
	}
	r.buffer.Reset(&r.bytes)
	return r.buffer
}

// request reads the header of a request.
func (r *headReader) request(head []byte) (*http.Request, error) {
	q, err := http.ReadRequest(r.over(head))
	if err != nil {
		return nil, fmt.Errorf("parse request: %w", err)
	}
	q.Body = nil
	if q.ContentLength < 0 {
		return nil, errors.New("parse request: a body without Content-Length is not supported")
	}
	return q, nil
}

// response reads the header of a response to a request with this method.
func (r *headReader) response(head []byte, method string) (*http.Response, error) {
	p, err := http.ReadResponse(r.over(head), &http.Request{Method: method})
	if err != nil {
		return nil, fmt.Errorf("parse response: %w", err)
	}
	p.Body = nil
	return p, nil
}

// body takes the body of a response as it arrives, however its end is marked (RFC 9112 6.3).
type body struct {
	data    []byte
	left    int  // bytes to come; of the chunk, if chunked
	chunked bool // otherwise left counts down, or the end of the connection ends the body
	toEOF   bool
	trailer bool // the last chunk was seen
	done    bool
}

func newBody(r *http.Response, method string) body {
	switch {
	case method == http.MethodHead || r.StatusCode/100 == 1 || r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusNotModified:
		return body{done: true}
	case len(r.TransferEncoding) > 0:
		return body{chunked: true}
	case r.ContentLength < 0:
		return body{toEOF: true}
	}
	return body{left: int(r.ContentLength), done: r.ContentLength == 0}
}

// feed takes what has arrived and gives what is left over.
func (b *body) feed(in []byte) (rest []byte, err error) {
	for !b.done && len(in) > 0 {
		switch {
		case b.toEOF:
			b.data, in = append(b.data, in...), nil
		case b.left > 0:
			in = b.take(in)
		default:
			line, rest, ok := bytes.Cut(in, []byte("\r\n"))
			if !ok {
				if len(in) > maxHead {
					return nil, errHead
				}
				return in, nil
			}
			in = rest
			if err := b.line(string(line)); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

func (b *body) take(in []byte) []byte {
	n := min(b.left, len(in))
	b.data = append(b.data, in[:n]...)
	b.left -= n
	if b.left == 0 && !b.chunked {
		b.done = true
	}
	return in[n:]
}

// line takes a line between chunks: the end of the one before, the size of the next, or a
// trailer.
func (b *body) line(line string) error {
	switch {
	case b.trailer:
		b.done = line == ""
	case line == "": // behind a chunk
	default:
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 31)
		if err != nil {
			return fmt.Errorf("parse chunk size %q: %w", line, err)
		}
		b.left, b.trailer = int(n), n == 0
	}
	return nil
}

// eof tells that the connection ended in order.
func (b *body) eof() error {
	if b.done || b.toEOF {
		b.done = true
		return nil
	}
	return io.ErrUnexpectedEOF
}
