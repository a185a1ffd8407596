// Command hcd is the node's daemon: it probes the members, keeps the slot tables and repairs the
// switch. It can run on a simulated site instead, to be looked at.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, as for lbctl.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hcd:", err)
		var input inputError
		if errors.As(err, &input) {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailed)
	}
}

// inputError is an error that is the caller's: flags, or a file they name.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }
