package dummy

import "syscall"

// childAttributes puts a daemon into a process group of its own, so that an interrupt at the terminal does not hit it
// before Close does, and lets the kernel kill it when the process that started it is gone.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
