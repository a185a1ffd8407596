package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// A verdict is an error whose outcome and words the prober knew at once.
type verdict struct {
	outcome Outcome
	text    string
}

func (v verdict) Error() string { return v.text }

func unprobed(format string, args ...any) error {
	return verdict{NotProbed, "not probed: " + fmt.Sprintf(format, args...)}
}
func unwanted(format string, args ...any) error {
	return verdict{Unwanted, fmt.Sprintf(format, args...)}
}
func broken(format string, args ...any) error { return verdict{Broken, fmt.Sprintf(format, args...)} }

// A lack is an error, and what was missing when it occurred: "no connection", "no answer".
type lack struct {
	of  string
	err error
}

func during(of string, err error) error { return lack{of, err} }

func (l lack) Error() string { return l.of + ": " + l.err.Error() }
func (l lack) Unwrap() error { return l.err }

// Explain is the result of a probe that somebody else made, of a target, and that ended with an error for want of something:
// "no connection", "no answer". It speaks as the probers here do.
func Explain(t Target, want string, err error) Result {
	return explain(context.Background(), t, during(want, err))
}

// explain puts the error of a probe into words for a person. Once the context is done, whatever else went wrong follows from
// that.
func explain(ctx context.Context, t Target, err error) Result {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Result{Outcome: NotProbed, Detail: "probe cancelled"}
	case ctx.Err() != nil:
		return Result{Outcome: TimedOut, Detail: timeoutText(t, err)}
	}
	var known verdict
	if errors.As(err, &known) {
		return Result{Outcome: known.outcome, Detail: known.text}
	}
	for _, w := range wordings {
		if errors.Is(err, w.err) {
			return Result{Outcome: w.outcome, Detail: w.text(t)}
		}
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return Result{Outcome: TimedOut, Detail: timeoutText(t, err)}
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" { // so crypto/tls names an alert it was sent
		return Result{Outcome: Broken, Detail: "TLS alert: " + strings.TrimPrefix(op.Err.Error(), "tls: ")}
	}
	return Result{Outcome: Failed, Detail: innermost(err).Error()}
}

func timeoutText(t Target, err error) string {
	text := "timeout"
	if t.Timeout > 0 {
		text += " after " + t.Timeout.String()
	}
	var l lack
	if errors.As(err, &l) {
		text += ": " + l.of
	}
	return text
}

// innermost returns the error at the bottom: the layers above name addresses, which the reader knows.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// A wording is what an error of the system means.
type wording struct {
	err     error
	outcome Outcome
	text    func(Target) string
}

// The wordings. What the node lacks says nothing about the member and is NotProbed. A network unreachable is a failure all
// the same: the node cannot tell its own want of a route from the word of a router.
var wordings = []wording{
	{syscall.ECONNREFUSED, Refused, fixed("connection refused")},
	{syscall.EHOSTUNREACH, Unreachable, fixed("no route to host")},
	{syscall.ENETUNREACH, Unreachable, fixed("network unreachable")},
	{syscall.EHOSTDOWN, Unreachable, fixed("host is down")},
	{syscall.ENOPROTOOPT, Unreachable, fixed("protocol unreachable")},
	{syscall.ETIMEDOUT, TimedOut, fixed("timeout of the system")},
	{syscall.ECONNRESET, Broken, fixed("connection reset")},
	{syscall.EPIPE, Broken, fixed("connection reset")},
	{io.ErrUnexpectedEOF, Broken, fixed("answer broke off")},
	{io.EOF, Broken, fixed("connection closed without an answer")},
	{syscall.EADDRNOTAVAIL, NotProbed, func(t Target) string {
		if !t.Source.IsValid() {
			return "not probed: no free port on this node"
		}
		return fmt.Sprintf("not probed: %s is not an address of this node, or has no free port", t.Source)
	}},
	{syscall.EACCES, NotProbed, fixed("not probed: not permitted by this node: see its firewall")},
	{syscall.EPERM, NotProbed, fixed("not probed: not permitted by this node: see its firewall")},
	{syscall.ENETDOWN, NotProbed, fixed("not probed: the interface of this node is down")},
	{syscall.EMFILE, NotProbed, fixed("not probed: too many open files in this process")},
	{syscall.ENFILE, NotProbed, fixed("not probed: too many open files on this node")},
	{syscall.ENOBUFS, NotProbed, fixed("not probed: no buffers left on this node")},
	{syscall.ENOMEM, NotProbed, fixed("not probed: no memory left on this node")},
}

func fixed(text string) func(Target) string { return func(Target) string { return text } }
