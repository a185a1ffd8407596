package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netns"
)

const (
	namesDir = "/run/netns" // where named namespaces are, as ip(8) has it
	prefix   = "hpnn-"      // of all names here
)

// runName begins the names of the namespaces and directories of this process.
func runName() string { return prefix + strconv.Itoa(os.Getpid()) + "-" }

// Sweep removes what runs that are dead have left: namespaces, the processes in them, temporary directories. It
// returns the names of what it removed. Open does this by itself.
func Sweep() (removed []string, err error) {
	spaces, _ := filepath.Glob(filepath.Join(namesDir, prefix+"*")) // the pattern is well-formed
	for _, path := range spaces {
		if !abandoned(filepath.Base(path)) {
			continue
		}
		if e := endProcesses(path); e != nil {
			err = errors.Join(err, e)
		}
		if e := netns.DeleteNamed(filepath.Base(path)); e != nil {
			if e := os.Remove(path); errors.Is(e, fs.ErrNotExist) {
				continue // another run was quicker
			} else if e != nil {
				err = errors.Join(err, fmt.Errorf("remove namespace %s: %w", path, e))
				continue
			}
		}
		removed = append(removed, path)
	}
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range dirs {
		if abandoned(filepath.Base(dir)) {
			err = errors.Join(err, os.RemoveAll(dir))
			removed = append(removed, dir)
		}
	}
	return removed, err
}

// abandoned tells whether a name is of a run whose process is gone.
func abandoned(name string) bool {
	id, _, ok := strings.Cut(strings.TrimPrefix(name, prefix), "-")
	pid, err := strconv.Atoi(id)
	if !ok || err != nil || pid <= 1 {
		return false
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// endProcesses ends what still runs in a namespace.
func endProcesses(path string) error {
	var space syscall.Stat_t
	if err := syscall.Stat(path, &space); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look at namespace %s: %w", path, err)
	}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	for _, link := range links {
		var at syscall.Stat_t
		if syscall.Stat(link, &at) != nil || at.Dev != space.Dev || at.Ino != space.Ino {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
	return nil
}
