package ovsproto

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// RefusedError says that the daemon understood who is asking and said no. The connection is as good
// as before.
type RefusedError struct {
	Command string // what was asked, e.g. "ofproto/trace"
	Words   string // what OVS answered
}

// Error tells the command and OVS's own words.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: %s", e.Command, strings.TrimSpace(e.Words))
}

// Disconnected tells whether it was a tool that failed, because it could not speak to the daemon.
func (e *RefusedError) Disconnected() bool {
	return slices.ContainsFunc(brokenConnection, func(words string) bool { return strings.Contains(e.Words, words) })
}

// brokenConnection is how OVS's tools word it that a daemon is gone, or goes while they speak to it.
var brokenConnection = []string{"onnection refused", "onnection reset", "onnection closed", "failed to connect",
	"nd of file", "Broken pipe", "No such file"}

// refusal turns the body of an OpenFlow error message into an error (section 7.5.4).
func refusal(body []byte) error {
	if len(body) < 4 {
		return &RefusedError{Command: "openflow", Words: "an error without a code"}
	}
	return &RefusedError{Command: "openflow", Words: fmt.Sprintf("error type %d code %d",
		binary.BigEndian.Uint16(body), binary.BigEndian.Uint16(body[2:]))}
}
