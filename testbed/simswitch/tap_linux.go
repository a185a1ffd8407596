package simswitch

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// tap is a device that is made for a port, and gone with it. Its kernel fills in checksums before a frame comes here, for the
// device is not said to do that.
type tap struct {
	fd    int
	frame []byte
}

// openTap makes a device in the caller's namespace.
func openTap(name string) (*tap, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make tap device: %w", err), unix.Close(fd))
	}
	return &tap{fd, make([]byte, maxFrame)}, nil
}

// read implements device.
func (t *tap) read() ([]byte, error) {
	n, err := unix.Read(t.fd, t.frame)
	if err != nil {
		return nil, err
	}
	return t.frame[:n], nil
}

// descriptor implements device.
func (t *tap) descriptor() int { return t.fd }
