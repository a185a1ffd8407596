package dummy

import (
	"errors"
	"fmt"

	"hpnn/internal/ovsproto"
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
type RefusedError = ovsproto.RefusedError
