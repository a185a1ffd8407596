package packet

import (
	"bytes"
	"fmt"
	"strings"
)

// Most differing stretches, and bytes of one, that Diff shows of bytes without a name.
const (
	maxStretches = 4
	maxShown     = 16
)

// Diff tells people how two frames differ: a line per field, such as "ip.ttl 64 != 63",
// the wanted value first; payload and whatever is not decoded by offset within it. It is
// empty exactly if the frames are equal.
func Diff(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	d := differ{want: want, got: got}
	d.walk(dissect(want), dissect(got))
	if len(d.lines) == 0 {
		d.stretch("frame", want, got)
	}
	return strings.Join(d.lines, "\n")
}

// differ gathers the lines of a difference.
type differ struct {
	want, got []byte
	lines     []string
}

func (d *differ) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// walk compares layer by layer. Layers only one frame has are named and stepped over, so
// that a pushed tag does not hide the rest.
func (d *differ) walk(want, got []layer) {
	for len(want) > 0 && len(got) > 0 {
		w, g := want[0], got[0]
		switch {
		case w.label() == g.label():
			d.layer(w, g)
			want, got = want[1:], got[1:]
		case holds(want[1:], g) && !holds(got[1:], w):
			d.missing(w)
			want = want[1:]
		case holds(got[1:], w):
			d.extra(g)
			got = got[1:]
		default:
			d.say("%s != %s", w.label(), g.label())
			d.stretch("bytes after that", d.want[w.at:], d.got[g.at:])
			return
		}
	}
	for _, w := range want {
		d.missing(w)
	}
	for _, g := range got {
		d.extra(g)
	}
}

// holds reports whether a layer of l's name is among layers.
func holds(layers []layer, l layer) bool {
	for _, other := range layers {
		if other.label() == l.label() {
			return true
		}
	}
	return false
}

func (d *differ) missing(w layer) { d.say("%s missing: %s", w.label(), shown(d.want[w.at:w.end])) }
func (d *differ) extra(g layer)   { d.say("%s not wanted: %s", g.label(), shown(d.got[g.at:g.end])) }

// layer compares two headers of one kind.
func (d *differ) layer(w, g layer) {
	want, got := d.want[w.at:w.end], d.got[g.at:g.end]
	for _, f := range w.fields {
		a, inWant := f.value(want)
		b, inGot := f.value(got)
		if inWant && inGot && a != b {
			d.say("%s.%s %s != %s", w.label(), f.name, a, b)
		}
	}
	name := w.label()
	if w.size > 0 {
		name += ".options"
	}
	d.stretch(name, want[min(w.size, len(want)):], got[min(w.size, len(got)):])
}

// stretch compares bytes that have no field names.
func (d *differ) stretch(name string, want, got []byte) {
	if len(want) != len(got) {
		d.say("%s length %d != %d", name, len(want), len(got))
	}
	common := min(len(want), len(got))
	for at, said := 0, 0; at < common; {
		if want[at] == got[at] {
			at++
			continue
		}
		end := at + 1
		for end < common && want[end] != got[end] {
			end++
		}
		if said++; said > maxStretches {
			d.say("%s: more differences from %d on", name, at)
			return
		}
		d.say("%s[%d:%d] %s != %s", name, at, end, shown(want[at:end]), shown(got[at:end]))
		at = end
	}
}

// shown is bytes as hexadecimal digits, cut where it gets long.
func shown(b []byte) string {
	if len(b) > maxShown {
		return fmt.Sprintf("%x… (%d bytes)", b[:maxShown], len(b))
	}
	return fmt.Sprintf("%x", b)
}
