package netns

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// shareNames makes the directory of names a mount of its own, as ip-netns(8) does before it makes its first namespace. Else
// ip would do so while our names are there: it mounts the directory over itself with all that is mounted in it, so that each
// name is mounted twice, and can neither be removed by us nor by anybody who does not know that.
//
// If other names are there already, it is too late, and all is left as it is.
func shareNames() error {
	if err := os.MkdirAll(namesDir, 0o755); err != nil {
		return err
	}
	dir, err := os.Open(namesDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil { // ip and other runs wait
		return fmt.Errorf("lock %s: %w", namesDir, err)
	}
	err = unix.Mount("", namesDir, "none", unix.MS_SHARED|unix.MS_REC, "")
	if !errors.Is(err, unix.EINVAL) { // it is one, or this may not be done here
		return nil
	}
	if names, err := dir.Readdirnames(1); err == nil && len(names) > 0 {
		return nil
	}
	if err := unix.Mount(namesDir, namesDir, "none", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s over itself: %w", namesDir, err)
	}
	return unix.Mount("", namesDir, "none", unix.MS_SHARED|unix.MS_REC, "")
}
