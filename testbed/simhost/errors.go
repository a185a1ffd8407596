package simhost

import (
	"syscall"
	"time"
)

// Error is why a connection, a request or a ping failed. errors.Is also finds the error of
// package syscall that a real socket gives, and Timeout tells what net.Error wants to know.
type Error struct {
	text  string
	errno syscall.Errno
}

// Possible errors. They are what the system calls of a real host would give.
var (
	ErrRefused     = &Error{"connection refused", syscall.ECONNREFUSED}
	ErrReset       = &Error{"connection reset by peer", syscall.ECONNRESET}
	ErrTimeout     = &Error{"timed out", syscall.ETIMEDOUT}
	ErrUnreachable = &Error{"no route to host", syscall.EHOSTUNREACH}
	ErrNoRoute     = &Error{"network is unreachable", syscall.ENETUNREACH}
	ErrInUse       = &Error{"address already in use", syscall.EADDRINUSE}
	ErrNoPort      = &Error{"no local port is free", syscall.EADDRNOTAVAIL}
	ErrPipe        = &Error{"write to a closed connection", syscall.EPIPE}
	ErrAgain       = &Error{"nothing to read yet", syscall.EAGAIN}
	ErrKilled      = &Error{"the process was killed", syscall.ECANCELED}
)

// Error is the text.
func (e *Error) Error() string { return e.text }

// Is reports whether target is the errno of e.
func (e *Error) Is(target error) bool { return target == e.errno }

// Timeout reports whether the peer did not answer in time.
func (e *Error) Timeout() bool { return e == ErrTimeout }

// Temporary completes net.Error.
func (e *Error) Temporary() bool { return e == ErrTimeout || e == ErrAgain }

// orTime is d, or def if d is 0.
func orTime(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// orInt is n, or def if n is 0.
func orInt(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
