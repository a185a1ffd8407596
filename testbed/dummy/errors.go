package dummy

import (
	"errors"
	"fmt"
	"strings"
)

// ErrAborted is what every AbortedError is, for errors.Is.
var ErrAborted = errors.New("daemon ended")

// ErrClosed is returned by calls on a Switch after Close.
var ErrClosed = errors.New("switch is closed")

// AbortedError says that a daemon ended by itself while the switch was in use, usually because the input hit a bug of
// OVS. The Switch is of no use until Restart.
type AbortedError struct {
	Daemon string // ovs-vswitchd or ovsdb-server
	Status string // how it ended, e.g. "signal: aborted"
	Log    string // the last lines of its log and of its standard error
}

// Error tells the daemon, how it ended and what it said last.
func (e *AbortedError) Error() string {
	return fmt.Sprintf("%s: %v: %s\n%s", e.Daemon, ErrAborted, e.Status, e.Log)
}

// Is makes errors.Is(err, ErrAborted) true.
func (e *AbortedError) Is(target error) bool { return target == ErrAborted }

// RefusedError says that OVS understood who is asking and said no: a flow it does not accept, an unknown port, a trace
// of a malformed flow. The Switch is as it was before.
type RefusedError struct {
	Command string // what was asked, e.g. "ovs-ofctl bundle"
	Words   string // what OVS answered, trimmed
}

// Error tells the command and OVS's own words.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: %s", e.Command, strings.TrimSpace(e.Words))
}

// connection tells whether a tool failed because it could not speak to a daemon.
func (e *RefusedError) connection() bool {
	for _, words := range brokenConnection {
		if strings.Contains(e.Words, words) {
			return true
		}
	}
	return false
}

// brokenConnection is how OVS's tools word it that a daemon is gone, or goes while they speak to it.
var brokenConnection = []string{"onnection refused", "onnection reset", "onnection closed", "failed to connect",
	"nd of file", "Broken pipe", "No such file"}
