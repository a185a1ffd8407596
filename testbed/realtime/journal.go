//go:build linux

package realtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// journal reads the daemon's log as it grows.
type journal struct {
	path string
	at   int64 // what was read already
}

// entry is a record of the log, as far as stories want to know it.
type entry struct {
	Message   string `json:"msg"`
	Member    string `json:"member"`
	Because   string `json:"because"`
	Pool      string `json:"pool"`
	Digest    string `json:"digest"`
	Moved     int    `json:"moved"`
	Slots     int    `json:"of"`
	Necessary int    `json:"necessary"`
	Foreign   int    `json:"foreign"`
	Flows     int    `json:"flows"`
	Error     string `json:"error"`
}

// line is what the node of every bed says then; false if others say nothing.
func (e entry) line() (text string, ok bool) {
	switch e.Message {
	case "member is up", "member is down":
		return fmt.Sprintf("member %s is %s: %s", e.Member, e.Message[len("member is "):], e.Because), true
	case "slots changed":
		return fmt.Sprintf("pool %s: digest %s, moved %d of %d: necessary %d, foreign %d", e.Pool, e.Digest, e.Moved, e.Slots, e.Necessary, e.Foreign), true
	case "switch not in step; will try again":
		return "switch not in step: " + e.Error, true
	case "switch had lost or changed flows; repaired":
		return fmt.Sprintf("repaired %d flows", e.Flows), true
	case "switch cannot be read; starting from the initial state":
		return "switch cannot be read: " + e.Error, true
	}
	return "", false
}

func isReload(e entry) bool { return e.Message == "topology reloaded" }

// news are the records since the last time. One that is not whole yet waits.
func (j *journal) news() []entry {
	text := j.read(j.at)
	end := bytes.LastIndexByte(text, '\n') + 1
	j.at += int64(end)
	return entries(text[:end])
}

// count counts records of a kind in all of the log.
func (j *journal) count(is func(entry) bool) (n int) {
	for _, e := range entries(j.read(0)) {
		if is(e) {
			n++
		}
	}
	return n
}

// read reads the log from a place on. Nothing is there yet if it cannot be read.
func (j *journal) read(from int64) []byte {
	f, err := os.Open(j.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= from {
		return nil
	}
	text := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(text, from) // what can be read is what is there
	return text[:n]
}

// entries parses records, one a line. What is none - a panic, say - is passed over.
func entries(text []byte) (all []entry) {
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all
}
