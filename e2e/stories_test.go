//go:build e2e && linux

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/scenarios"
	"hpnn/testbed/netns"
)

// short is the set of stories for every day: those that this bed can tell, and in about a minute.
var short = []string{
	"a-first-story", "arp-and-ping", "client-affinity", "drain", "even-shares", "first-verdict", "hairpin", "icmp-errors",
	"invalid-packets", "long-session", "mac-spoofing", "member-frozen", "member-killed", "minimal-disruption", "no-member",
	"no-member-last-known", "no-member-reject", "node-restart", "own-egress", "private-listener", "probes", "reapply", "reload",
	"repair", "syn-retry", "transit", "ttl", "two-pools", "vip-other-port", "weights",
}

// TestStories tells the stories of scenarios/testdata on real kernels, several at a time, each on a site of its own.
func TestStories(t *testing.T) {
	if reason, ok := netns.Available(switchOf(t)); !ok {
		t.Skip(reason)
	}
	t.Setenv("HPNN_BIN", build(t))
	paths, err := filepath.Glob("../scenarios/testdata/*.txt")
	require.NoError(t, err)
	requireNames(t, paths)
	var r report
	defer func() { r.print(t) }()
	t.Run("on "+bed(), func(t *testing.T) {
		places := make(chan struct{}, parallel(t))
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".txt")
			if !chosen(name) {
				r.others++
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				tell(t, &r, name, path)
			})
		}
	})
}

func tell(t *testing.T, r *report, name, path string) {
	begun := time.Now()
	result, err := scenarios.Run(path, scenarios.Config{Bed: bed(), Keep: keepDir(name)})
	r.add(told{name, result.Skipped, err, result.Steps, time.Since(begun)})
	if err != nil {
		t.Fatal(err)
	}
	if result.Skipped != "" {
		t.Skip(result.Skipped)
	}
}

// bed is where the stories happen.
func bed() string { return cmp.Or(os.Getenv("HPNN_E2E_BED"), "netns") }

// switchOf is what forwards there.
func switchOf(t *testing.T) netns.Switch {
	for _, s := range []netns.Switch{netns.OpenVSwitch, netns.Simulator} {
		if s.String() == bed() {
			return s
		}
	}
	require.FailNow(t, "HPNN_E2E_BED is netns or netns-sim")
	return 0
}

// set is which stories are to be told: "short", "all", or names separated by commas.
func set() string { return cmp.Or(os.Getenv("HPNN_E2E_STORIES"), "short") }

// chosen tells whether a story is to be told.
func chosen(name string) bool { return set() == "all" || slices.Contains(wanted(), name) }

// wanted are the names in the set.
func wanted() []string {
	switch set() {
	case "all":
		return nil
	case "short":
		return short
	}
	return strings.Split(set(), ",")
}

// requireNames finds names that no story has.
func requireNames(t *testing.T, paths []string) {
	for _, name := range wanted() {
		ok := slices.ContainsFunc(paths, func(path string) bool { return filepath.Base(path) == name+".txt" })
		require.True(t, ok, "there is no story %s; STORIES is short, all, or names separated by commas", name)
	}
}

// parallel is how many stories are told at a time. They wait most of the time.
func parallel(t *testing.T) int {
	text := cmp.Or(os.Getenv("HPNN_E2E_PARALLEL"), strconv.Itoa(2*runtime.NumCPU()))
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "HPNN_E2E_PARALLEL is a number")
	return max(1, n)
}

// keepDir is where a failed story leaves what helps to find out why.
func keepDir(name string) string {
	dir := cmp.Or(os.Getenv("HPNN_E2E_KEEP"), filepath.Join(os.TempDir(), "hpnn-failed-"+time.Now().Format("20060102-150405")))
	return filepath.Join(dir, name)
}

// told is how a story went.
type told struct {
	name    string
	skipped string
	err     error
	steps   int
	took    time.Duration
}

// report is how all of them went.
type report struct {
	mu     sync.Mutex
	told   []told
	others int // that are not in the set
}

func (r *report) add(s told) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, s)
}

func (r *report) print(t *testing.T) {
	slices.SortFunc(r.told, func(a, b told) int { return cmp.Compare(a.name, b.name) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "\nSTORY ON %s\tRESULT\t\n", bed())
	passed, skipped := 0, 0
	for _, s := range r.told {
		switch {
		case s.err != nil:
			fmt.Fprintf(w, "%s\tFAILED\t\n", s.name)
		case s.skipped != "":
			skipped++
			fmt.Fprintf(w, "%s\tskipped\t%s\n", s.name, s.skipped)
		default:
			passed++
			fmt.Fprintf(w, "%s\tpassed\t%d steps in %s\n", s.name, s.steps, ms(s.took))
		}
	}
	fmt.Fprintf(w, "\n%d passed, %d skipped, %d failed\n", passed, skipped, len(r.told)-passed-skipped)
	if r.others > 0 {
		fmt.Fprintf(w, "%d others are not of the set %q: STORIES=all tells all\n", r.others, set())
	}
	fmt.Fprintln(w)
	_ = w.Flush() // to the terminal
}
