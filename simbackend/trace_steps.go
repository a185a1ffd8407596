package simbackend

import (
	"fmt"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// enter opens a lookup.
func (t *tracer) enter(table openflow.TableID, r *rule) {
	if r == nil {
		t.open(datapath.NodeTable, table, lookupText(table, r))
		t.add(datapath.NodeAction, "drop")
		return
	}
	if r.line == 0 {
		t.name(table, r)
	}
	t.open(datapath.NodeTable, table, t.lookups[r.line])
}

// leave closes what enter has opened.
func (t *tracer) leave() { t.lists = t.lists[:len(t.lists)-1] }

// name keeps what a lookup that finds r is called.
func (t *tracer) name(table openflow.TableID, r *rule) {
	text := lookupText(table, r)
	if n := len(t.free); n > 0 {
		r.line, t.free = t.free[n-1], t.free[:n-1]
		t.lookups[r.line] = text
		return
	}
	r.line = uint32(len(t.lookups))
	t.lookups = append(t.lookups, text)
}

// forget drops what is known of a rule that goes.
func (t *tracer) forget(r *rule) {
	if r.line != 0 {
		t.lookups[r.line] = ""
		t.free = append(t.free, r.line)
		r.line = 0
	}
}

// lookupText is a table's line: its number, and what matched.
func lookupText(table openflow.TableID, r *rule) string {
	if r == nil {
		return fmt.Sprintf("%2d. No match.\n", table)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%2d. ", table)
	if m := r.flow.Match.String(); m != "" {
		b.WriteString(m + ", ")
	}
	fmt.Fprintf(&b, "priority %d", r.flow.Priority)
	if r.flow.Cookie != 0 {
		fmt.Fprintf(&b, ", cookie %#x", r.flow.Cookie)
	}
	b.WriteByte('\n')
	return b.String()
}

func (t *tracer) note(text string) { t.add(datapath.NodeNote, text) }
func (t *tracer) warn(text string) { t.add(datapath.NodeWarn, text) }
func (t *tracer) fail(text string) { t.add(datapath.NodeError, text) }

// beforeNote is what stands before the text of a note.
const beforeNote = level + " -> "

// now notes the new value of a field or of a part of it, which the latest action has written.
func (t *tracer) now(s openflow.Subfield, k *flow.Key) {
	a := &t.doing.texts[t.done]
	if a.dst != s {
		a.dst, a.value = s, beforeNote+s.String()+" is now "
	}
	l, b := t.next(), t.text
	if l.level > 0 {
		b = appendLevels(b, l.level)
	}
	from := len(b) + len(beforeNote)
	b = append(b, a.value...)
	switch v := k.GetSub(s); {
	case !s.IsWhole():
		b = v.Append(b)
	case s.Field == openflow.VLANVID: // OVS shows it with the bit that makes a tag
		b = strconv.AppendUint(b, k.Get(openflow.VLANTCI).Lo&0x1fff, 10)
	default:
		b = s.Field.AppendValue(b, v)
	}
	t.nodes = append(t.nodes, datapath.Cut{From: int32(from), To: int32(len(b)), Kind: datapath.NodeNote, Depth: t.depth()})
	t.text = append(b, '\n')
}

func (t *tracer) outputPort(v openflow.Value) {
	if v.Hi != 0 || v.Lo > 0xffff {
		t.warn(fmt.Sprintf("output port %d is out of range", v.Lo))
		return
	}
	t.note(fmt.Sprintf("output port is %d", v.Lo))
}

// actionSet opens the execution of an action set and returns what closes it. The set of the pass
// is shown under the first lookup, that of a clone where the clone is.
func (t *tracer) actionSet() (leave func()) {
	depth := len(t.lists)
	if depth == 1 {
		t.lists = t.lists[:2] // that of the first lookup, as it was left
	}
	t.open(datapath.NodeBucket, 0, "--. Executing action set:\n")
	return func() { t.lists = t.lists[:depth] }
}

// forked notes what a ct() means for the frame and its copy.
func (t *tracer) forked(c *ctCode) {
	if c.recirc {
		at := t.start(datapath.NodeNote)
		t.text = append(t.text, "A clone of the packet is forked to recirculate. The forked pipeline will be resumed at table "...)
		t.text = strconv.AppendUint(t.text, uint64(c.table), 10)
		t.text = append(t.text, '.')
		t.finish(datapath.NodeNote, at)
	}
	t.addLine(datapath.NodeNote, beforeNote+"Sets the packet to an untracked state, and clears all the conntrack fields.\n", len(beforeNote))
}
