package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"hpnn/testbed"
)

// Config says where stories happen. The zero value is a good one.
type Config struct {
	Bed      string // one of Beds; "sim" if empty
	Topology string // the file that a story runs on which names none
	Update   bool   // write what the commands print into the file, whatever it was
	Keep     string // the directory for what helps to find out why a story failed, on a bed that can tell; empty: nothing is kept
}

// Result is how a story went.
type Result struct {
	Path    string
	Skipped string        // why it was not told, empty if it was
	Steps   int           // that were done
	Took    time.Duration // of the bed's time
}

// String is the result in one line.
func (r Result) String() string {
	if r.Skipped != "" {
		return fmt.Sprintf("skipped %s: %s", r.Path, r.Skipped)
	}
	return fmt.Sprintf("ok      %s: %d steps in %v", r.Path, r.Steps, r.Took.Round(time.Millisecond))
}

// Run tells the story of a file. The error names the file and the line: a *SyntaxError, a
// *MismatchError, a *ViolationError, or what went wrong in a step.
func Run(path string, c Config) (Result, error) {
	script, err := Load(path)
	if err != nil {
		return Result{Path: path}, err
	}
	result, outputs, err := script.tell(c)
	if c.Update && result.Skipped == "" {
		if text := script.rewrite(outputs); text != strings.Join(script.lines, "\n")+"\n" {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return result, fmt.Errorf("update story: %w", err)
			}
		}
	}
	return result, err
}

// skip says why a story is not told.
type skip struct{ error }

// tell tells the story and returns what each block printed.
func (s *Script) tell(c Config) (r Result, outputs [][]string, err error) {
	t := newStory(c, s.Path)
	defer func() { err = errors.Join(t.keep(err), t.close()) }()
	r.Path = s.Path
	steps, err := s.prepare()
	if err != nil {
		return r, nil, err
	}
	t.calls = slices.Concat(steps...)
	for i, b := range s.Blocks {
		t.printed = nil
		err := t.block(steps[i], &r)
		var s skip
		switch {
		case errors.As(err, &s):
			r.Skipped = s.Error()
			return r, nil, nil
		case err != nil:
			return r, outputs, err
		}
		printed := texts(t.printed)
		outputs = append(outputs, printed)
		if !c.Update && !t.wanted(b.Want) {
			return r, outputs, &MismatchError{b, b.Want, printed}
		}
	}
	if t.bed != nil {
		r.Took = t.bed.Now()
	}
	return r, outputs, nil
}

// keepTimeout bounds how long it may take to write down what helps to find out why a story failed.
const keepTimeout = 20 * time.Second

// keep keeps that, if the story failed with an error, and adds to it where.
func (t *story) keep(err error) error {
	k, able := t.bed.(testbed.Keeper)
	if err == nil || !able || t.config.Keep == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
	defer cancel()
	if problem := k.Keep(ctx, t.config.Keep); problem != nil {
		return fmt.Errorf("%w\n(what was there is in %s, but not all: %w)", err, t.config.Keep, problem)
	}
	return fmt.Errorf("%w\n(what was there is in %s)", err, t.config.Keep)
}

// wanted reports whether the block printed what the story has.
func (t *story) wanted(want []string) bool {
	if t.bed != nil && t.inRealTime() {
		return same(want, t.printed)
	}
	return slices.Equal(want, texts(t.printed))
}

// call is a step whose command is known.
type call struct {
	Step
	command command
	words   []string
}

// needs are the features that the call needs.
func (c call) needs() []testbed.Feature {
	all := c.command.needs
	for _, w := range c.words {
		all = append(all, c.command.wordNeeds[w]...)
	}
	return all
}

// able says, as a skip, what of all that the story needs the bed lacks.
func (t *story) able() error {
	for _, c := range t.calls {
		for _, f := range c.needs() {
			if err := t.bed.Can(f); err != nil {
				return skip{fmt.Errorf("%s (line %d) needs %v: bed %s: %w", c.command.name, c.Line, f, t.bed.Name(), err)}
			}
		}
	}
	return nil
}

// prepare finds the command of every step, before any is done.
func (s *Script) prepare() (blocks [][]call, err error) {
	known := map[string]command{}
	for _, c := range commands() {
		known[c.name] = c
	}
	for _, b := range s.Blocks {
		var calls []call
		for _, step := range b.Steps {
			words, err := split(step.Text)
			if err != nil {
				return nil, &SyntaxError{step.Path, step.Line, err.Error()}
			}
			c, ok := known[words[0]]
			if !ok {
				return nil, &SyntaxError{step.Path, step.Line, fmt.Sprintf("%q is no command: use %s", words[0], names(known))}
			}
			if step.Input != "" && !c.input {
				return nil, &SyntaxError{step.Path, step.Line, fmt.Sprintf("%s takes no indented lines", c.name)}
			}
			calls = append(calls, call{step, c, words[1:]})
		}
		blocks = append(blocks, calls)
	}
	return blocks, nil
}

func names(known map[string]command) string {
	var all []string
	for name := range known {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// block does the steps of a block.
func (t *story) block(calls []call, r *Result) error {
	clear(t.heard)
	t.log = nil
	for _, c := range calls {
		if err := t.step(c); err != nil {
			return err
		}
		r.Steps++
	}
	if t.bed != nil && t.inRealTime() {
		return t.verifyInTime()
	}
	return nil
}

// step does a step and checks afterwards that no rule is broken.
func (t *story) step(c call) error {
	t.now, t.like = c.Step, c.command.like
	if t.bed == nil && !c.command.early {
		if err := t.open(nil); err != nil {
			return stepError{c, err}
		}
	}
	a := newArgs(c.words)
	a.input = c.Input
	if err := c.command.run(t, a); err != nil {
		if errors.As(err, new(skip)) {
			return err
		}
		if a.err != nil {
			err = fmt.Errorf("%w: usage: %s", err, c.command.usage)
		}
		return stepError{c, err}
	}
	if t.bed == nil {
		return nil
	}
	if t.trouble != nil {
		return fmt.Errorf("%v: %w", t.now, t.trouble)
	}
	if t.inRealTime() {
		return nil // looking takes time, in which the story would stand still: block by block is enough
	}
	return t.verify()
}

// stepError is an error with its place.
type stepError struct {
	call
	err error
}

// Error names the place and the command.
func (e stepError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %v", e.Path, e.Line, e.command.name, e.err)
}

// Unwrap is the error itself.
func (e stepError) Unwrap() error { return e.err }
