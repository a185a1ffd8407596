package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const (
	bedLabel  = "hpnn.story"  // of the containers of beds; its value is the process that started them
	bedPrefix = "hpnn-story-" // of their names and of directories, before the process
)

// building is read-locked while a bed is built. Who locks it for good has nothing built any more.
var building sync.RWMutex

// swept is whether this process has removed what dead ones have left.
var swept struct {
	sync.Mutex
	done bool
}

func sweepOnce(ctx context.Context) error {
	swept.Lock()
	defer swept.Unlock()
	if swept.done {
		return nil
	}
	err := SweepBeds(ctx)
	swept.done = err == nil
	return err
}

// SweepBeds removes what runs that are dead have left of their beds.
func SweepBeds(ctx context.Context) error { return removeBeds(ctx, dead) }

// CloseBeds removes all beds of this process, after those that are being built are complete, and lets no other be built: for
// one that was told to end.
func CloseBeds(ctx context.Context) error {
	building.Lock() // for good
	own := os.Getpid()
	return removeBeds(ctx, func(pid int) bool { return pid == own })
}

func dead(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// removeBeds removes the containers and directories of some processes.
func removeBeds(ctx context.Context, of func(pid int) bool) error {
	out, err := engine(ctx, "ps", "--all", "--filter", "label="+bedLabel, "--format", `{{.Names}} {{.Label "`+bedLabel+`"}}`)
	if err != nil {
		return err
	}
	var names []string
	for line := range strings.Lines(out) {
		name, process, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(process); err == nil && of(pid) {
			names = append(names, name)
		}
	}
	err = removeContainers(names)
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), bedPrefix+"*")) // the pattern is well formed
	for _, dir := range dirs {
		process, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), bedPrefix), "-")
		if pid, e := strconv.Atoi(process); e == nil && of(pid) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// removeContainers removes those that there are, whatever state they are in.
func removeContainers(names []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return together(names, func(name string) error {
		_, err := engine(ctx, "rm", "--force", "--volumes", name)
		if err != nil && (strings.Contains(err.Error(), "No such container") || strings.Contains(err.Error(), "is already in progress")) {
			return nil
		}
		return err
	})
}
