package openflow

// lists are the action lists of a file's lines by how they are written: many lines do the same, and
// share one list. The nil lists know nothing and learn nothing.
type lists map[string]list

// list is what a text came to, in a flow of a table and with a match.
type list struct {
	actions []Action
	table   TableID
	match   Match
}

// mostLists bounds the room that is taken for what may not come again.
const mostLists = 256

// find is the list that is written so and means the same in the table and with the match of f.
func (l lists) find(written string, f *Flow) ([]Action, bool) {
	known, ok := l[written]
	return known.actions, ok && known.table == f.Table && known.match.sameHeaders(f.Match)
}

// add takes note of the actions of f.
func (l lists) add(written string, f *Flow) {
	if l != nil && len(l) < mostLists {
		l[written] = list{f.Actions, f.Table, f.Match}
	}
}

// headerFields are the fields whose conditions tell which headers a frame has: all that the checks of
// actions ask of a match.
var headerFields = fieldSet(CTState, VLANTCI, EthType, IPProto, IPFrag, ICMPv6Type, ICMPv6Code)

// fieldSet has bit f set for each field, all of which a match can hold.
func fieldSet(fields ...Field) (set [2]uint64) {
	for _, f := range fields {
		set[f/64] |= 1 << (f % 64)
	}
	return set
}

// sameHeaders reports whether m and o want the same headers of a frame, so that the same actions may
// be done to it.
func (m Match) sameHeaders(o Match) bool {
	i, j := m.nextHeader(0), o.nextHeader(0)
	for i < len(m.terms) && j < len(o.terms) {
		if m.terms[i] != o.terms[j] {
			return false
		}
		i, j = m.nextHeader(i+1), o.nextHeader(j+1)
	}
	return i >= len(m.terms) && j >= len(o.terms)
}

// nextHeader is the index of the first term of a header field from i on.
func (m Match) nextHeader(i int) int {
	for i < len(m.terms) && headerFields[m.terms[i].Field/64]>>(m.terms[i].Field%64)&1 == 0 {
		i++
	}
	return i
}
