package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// usable tries what a container may forbid, even to root.
func usable() error {
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return fmt.Errorf("find the device for the node's own ports: %w", err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and its namespaces with it
		err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS)
		if errors.Is(err, unix.EPERM) {
			err = fmt.Errorf("%w: the container needs CAP_SYS_ADMIN and CAP_NET_ADMIN", err)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	return nil
}
