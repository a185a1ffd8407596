//go:build !linux

package dummy

import "syscall"

// childAttributes is never used here: Available refuses other systems.
func childAttributes() *syscall.SysProcAttr { return nil }
