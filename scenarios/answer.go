package scenarios

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"

	"hpnn/testbed"
)

// The parts of a member's answer.
var (
	backend = regexp.MustCompile(`(?m)(?:^|\s)backend=(\S+)`)
	who     = regexp.MustCompile(`client=(\S+?):(\d+)\s+served=(\S+)`)
)

// showAnswer is the answer to one request.
func showAnswer(a testbed.Answer) string { return show(a, "client=$1 served=$3") }

// showPort is the same with the client's port.
func showPort(a testbed.Answer) string { return show(a, "client=$1:$2 served=$3") }

func show(a testbed.Answer, form string) string {
	if a.Err != nil {
		return fault(a)
	}
	line, more, _ := strings.Cut(a.Body, "\n")
	text := fmt.Sprintf("%d %s", a.Status, line)
	if m := backend.FindStringSubmatch(a.Body); m != nil {
		text = fmt.Sprintf("%d backend=%s", a.Status, m[1])
		if n := strings.Count(more, "\n"); n > 0 {
			text += fmt.Sprintf(" in %d lines", n+1)
		}
	}
	if m := who.FindStringSubmatchIndex(line); m != nil {
		text += " " + string(who.ExpandString(nil, form, line, m))
	}
	return text
}

// groupAnswer is what an answer counts as.
func groupAnswer(a testbed.Answer) string {
	m := backend.FindStringSubmatch(a.Body)
	switch {
	case a.Err != nil:
		return fault(a)
	case a.Status == 200 && m != nil:
		return m[1]
	}
	return fmt.Sprint(a.Status)
}

// fault is why there is no answer, or no whole one.
func fault(a testbed.Answer) string {
	text := faultOf(a.Err)
	if a.Status != 0 {
		text += " in the middle"
	}
	return text
}

func faultOf(err error) string {
	for _, k := range []struct {
		is   error
		text string
	}{
		{syscall.ECONNREFUSED, "refused"}, {syscall.ECONNRESET, "reset"}, {syscall.ETIMEDOUT, "no answer"},
		{syscall.EHOSTUNREACH, "unreachable"}, {syscall.ENETUNREACH, "no route"}, {syscall.EADDRINUSE, "port in use"},
		{io.ErrUnexpectedEOF, "broken off"}, {io.EOF, "closed"},
	} {
		if errors.Is(err, k.is) {
			return k.text
		}
	}
	return err.Error()
}

func showEcho(a testbed.Answer) string {
	if a.Err != nil {
		return faultOf(a.Err)
	}
	return fmt.Sprintf("echo ttl=%d", a.TTL)
}
