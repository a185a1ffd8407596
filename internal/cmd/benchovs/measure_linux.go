package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// windows is how many measurements are made of the same; the best counts.
const windows = 5

// A count is how often something was done, and the time that the threads that did it ran.
type count struct {
	n      int
	cpu    time.Duration
	missed int // of frames: lookups that found nothing in OVS's caches and became upcalls
}

// best measures what goes on by itself, by reading a counter at both ends of several windows, and returns the time for one.
func best(ctx context.Context, window time.Duration, read func() (count, error)) (time.Duration, error) {
	least := time.Duration(0)
	for range windows {
		from, err := read()
		if err != nil {
			return 0, err
		}
		select {
		case <-time.After(window):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		to, err := read()
		if err != nil {
			return 0, err
		}
		if to.n == from.n {
			continue // the thread did not get to run
		}
		if each := (to.cpu - from.cpu) / time.Duration(to.n-from.n); least == 0 || each < least {
			least = each
		}
	}
	if least == 0 {
		return 0, errors.New("measure: nothing happened in any window: use a longer -window")
	}
	return least, nil
}

// bestOf measures work, done until it has taken the window, and returns the time for one.
func bestOf(window time.Duration, work func(n int)) time.Duration {
	const batch = 1000
	least := time.Duration(0)
	for range windows {
		n, from := 0, ownTime()
		for ownTime()-from < window {
			work(batch)
			n += batch
		}
		if each := (ownTime() - from) / time.Duration(n); least == 0 || each < least {
			least = each
		}
	}
	return least
}

// ownTime is how long all threads of this process have run.
func ownTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of oneself it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var (
	received = regexp.MustCompile(`packets received: (\d+)`)
	missed   = regexp.MustCompile(`miss with \w+ upcall: (\d+)`)
	sent     = regexp.MustCompile(`tx pkts=(\d+)`)
)

// total adds up the numbers that follow some words.
func total(words *regexp.Regexp, text string) (sum int) {
	for _, m := range words.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits, and fewer than overflow
		sum += n
	}
	return sum
}

// frames counts the frames that the polling thread has received.
func (l *lab) frames(ctx context.Context) (count, error) {
	text, err := l.control.Call(ctx, "dpif-netdev/pmd-stats-show")
	if err != nil {
		return count{}, err
	}
	cpu, err := l.threadTime("pmd")
	return count{total(received, text), cpu, total(missed, text)}, err
}

// forwarded counts the frames that left.
func (l *lab) forwarded(ctx context.Context) (int, error) {
	text, err := l.tool(ctx, "ovs-ofctl", "-O", "OpenFlow15", "dump-ports", l.path(bridge+".mgmt"))
	return total(sent, text), err
}

// A habit is what the caches do for the frames of a window.
type habit func(frames, missed int) bool

func cached(frames, missed int) bool   { return missed*100 < frames }
func uncached(frames, missed int) bool { return missed >= frames*99/100 }

// settle waits until the caches do what is to be measured, and nudges them meanwhile.
func (l *lab) settle(ctx context.Context, h habit, nudge func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if err := nudge(); err != nil {
			return err
		}
		from, err := l.frames(ctx)
		if err != nil {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait until OVS's caches have settled: %w", ctx.Err())
		}
		to, err := l.frames(ctx)
		if err != nil {
			return err
		}
		if to.n > from.n && h(to.n-from.n, to.missed-from.missed) {
			return nil
		}
	}
}

// threadTime is how long the threads of ovs-vswitchd of a name have run.
func (l *lab) threadTime(prefix string) (sum time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", l.vswitchd()))
	if err != nil {
		return 0, fmt.Errorf("list threads: %w", err)
	}
	for _, t := range tasks {
		name, err := os.ReadFile(filepath.Join(t, "comm"))
		if err != nil || !strings.HasPrefix(string(name), prefix) {
			continue // it may have ended
		}
		text, err := os.ReadFile(filepath.Join(t, "schedstat"))
		if err != nil {
			return 0, fmt.Errorf("read run time: %w", err)
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read run time: %w", err)
		}
		sum += time.Duration(ns)
	}
	if sum == 0 {
		return 0, fmt.Errorf("find threads %s of ovs-vswitchd: it has none", prefix)
	}
	return sum, nil
}

func (l *lab) vswitchd() int { return l.daemons[len(l.daemons)-1].Process.Pid }
