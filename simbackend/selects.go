package simbackend

import "hpnn/datapath/openflow"

// selects: TEMPORARY until openflow has it.
func selects(m openflow.FlowMod, f openflow.Flow) bool {
	if m.CookieMask != 0 && (m.Flow.Cookie^f.Cookie)&m.CookieMask != 0 {
		return false
	}
	if m.Command == openflow.ModifyStrict || m.Command == openflow.DeleteStrict {
		return m.Flow.Priority == f.Priority && m.Flow.Match.Equal(f.Match)
	}
	return m.Flow.Match.Covers(f.Match)
}
