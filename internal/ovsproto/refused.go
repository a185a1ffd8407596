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

const (
	experimenterError = 0xffff // a type; the code is the experimenter's, whose number follows
	refusalHeader     = 4      // type, code; then some of what was refused
)

// refusal turns the body of an OpenFlow error message into an error (section 7.5.4).
func refusal(body []byte) *RefusedError {
	if len(body) < refusalHeader {
		return &RefusedError{Command: "openflow", Words: "an error without a code"}
	}
	kind, code := binary.BigEndian.Uint16(body), binary.BigEndian.Uint16(body[2:])
	words := fmt.Sprintf("error type %d code %d", kind, code)
	if name := errorName(kind, code, body[refusalHeader:]); name != "" {
		words = name
	}
	return &RefusedError{Command: "openflow", Words: words}
}

// errorName is what Open vSwitch calls an error, or nothing.
func errorName(kind, code uint16, rest []byte) string {
	switch {
	case kind == experimenterError && len(rest) >= 4 && binary.BigEndian.Uint32(rest) == vendorNicira:
		return extensionErrors[code]
	case int(kind) < len(errorNames) && int(code) < len(errorNames[kind]):
		return errorNames[kind][code]
	}
	return ""
}
