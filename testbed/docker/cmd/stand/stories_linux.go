package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hpnn/scenarios"
	"hpnn/testbed/docker"
)

// shortSet are the stories for every day, the longest first: one of each kind that containers can show, none much longer than
// half a minute.
var shortSet = []string{"no-member-reject", "drain", "member-frozen", "ttl", "a-first-story", "repair", "hairpin", "private-listener"}

// telling says which stories are told, and how.
type telling struct {
	dir    string // of the story files
	set    string // short, all, none, or names separated by commas
	atOnce int
}

// choose finds the files of the set, and counts those that are left out.
func (c telling) choose() (paths []string, others int, err error) {
	all, err := filepath.Glob(filepath.Join(c.dir, "*.txt"))
	if err != nil {
		return nil, 0, err
	}
	var names []string
	switch c.set {
	case "all":
		return all, 0, nil
	case "none":
	case "short":
		names = shortSet
	default:
		names = strings.Split(c.set, ",")
	}
	for _, name := range names {
		path := filepath.Join(c.dir, name+".txt")
		if !slices.Contains(all, path) {
			return nil, 0, fmt.Errorf("find story %s: there is no file %s; STORIES is short, all, none, or names separated by commas", name, path)
		}
		paths = append(paths, path)
	}
	return paths, len(all) - len(paths), nil
}

// ending is how a story went.
type ending struct {
	name string
	scenarios.Result
	err  error
	took time.Duration // with building the stand and taking it away
}

// tell tells the stories and prints how each went. It is an error if one fails. When the context ends their stands are removed.
func (c telling) tell(ctx context.Context, out io.Writer) error {
	paths, others, err := c.choose()
	if err != nil || len(paths) == 0 {
		return err
	}
	fmt.Fprintf(out, "\nstories, each on a stand of its own, %d at a time\n", c.atOnce)
	keep := filepath.Join(os.TempDir(), "hpnn-failed-"+time.Now().Format("20060102-150405"))
	endings := make(chan ending)
	go c.tellEach(paths, keep, endings)
	var failed, skipped []ending
	for range paths {
		select {
		case e := <-endings:
			switch {
			case e.err != nil:
				failed = append(failed, e)
				fmt.Fprintf(out, "FAIL  %s\n      %v\n", e.name, strings.ReplaceAll(e.err.Error(), "\n", "\n      "))
			case e.Skipped != "":
				skipped = append(skipped, e)
			default:
				fmt.Fprintf(out, "ok    %-58s %d steps in %.1f s\n", e.name, e.Steps, e.took.Seconds())
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), docker.CloseBeds(context.WithoutCancel(ctx)))
		}
	}
	fmt.Fprintf(out, "\n%d of %d stories went as written\n", len(paths)-len(failed)-len(skipped), len(paths)-len(skipped))
	for _, e := range skipped {
		fmt.Fprintf(out, "not told: %s: %s\n", e.name, e.Skipped)
	}
	if others > 0 {
		fmt.Fprintf(out, "%d others are not of the set %q: STORIES=all tells all\n", others, c.set)
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d stories failed", len(failed), len(paths))
	}
	return nil
}

// tellEach tells the stories, some at a time, and sends how each went.
func (c telling) tellEach(paths []string, keep string, endings chan<- ending) {
	places := make(chan struct{}, max(1, c.atOnce))
	var all sync.WaitGroup
	for _, path := range paths {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			begun, name := time.Now(), strings.TrimSuffix(filepath.Base(path), ".txt")
			result, err := scenarios.Run(path, scenarios.Config{Bed: "docker", Keep: filepath.Join(keep, name)})
			endings <- ending{name, result, err, time.Since(begun)}
		})
	}
	all.Wait()
}
