package bridgerpc

import (
	"errors"

	"hpnn/datapath"
)

// fault is an error on its way: what it says, and what callers branch on.
type fault struct {
	Text   string   `json:"text"`
	Reason reason   `json:"reason,omitempty"`
	Commit *refusal `json:"commit,omitempty"` // if it is a datapath.CommitError
}

// refusal is which modification of a bundle was refused, and why.
type refusal struct {
	Index int    `json:"index"` // -1 if the switch did not say
	Text  string `json:"text"`
}

// reason is the error that callers look for.
type reason string

const (
	unavailable  reason = "unavailable"
	notSupported reason = "not supported"
)

func (r reason) err() error {
	switch r {
	case unavailable:
		return datapath.ErrUnavailable
	case notSupported:
		return datapath.ErrNotSupported
	}
	return nil
}

// faultOf is an error of a Bridge. That the Bridge was closed, by somebody else, is to a caller that its switch is gone.
func faultOf(err error) *fault {
	f := &fault{Text: err.Error()}
	switch {
	case errors.Is(err, datapath.ErrNotSupported):
		f.Reason = notSupported
	case errors.Is(err, datapath.ErrUnavailable), errors.Is(err, datapath.ErrClosed):
		f.Reason = unavailable
	}
	var c *datapath.CommitError
	if errors.As(err, &c) {
		f.Commit = &refusal{c.Index, c.Err.Error()}
	}
	return f
}

// remoteError is an error that the server told.
type remoteError struct {
	text   string
	reason error // may be nil
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.reason }

func (f *fault) err() error { return &remoteError{f.Text, f.Reason.err()} }
