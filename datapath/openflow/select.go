package openflow

// Selects reports whether the change is about f: whether an Add replaces it, a modify changes
// it or a delete takes it away. Strict commands want the same priority and match, loose ones a
// match that is equal or more specific.
func (m FlowMod) Selects(f Flow) bool {
	if m.Flow.Table != f.Table && (m.Command == Add || m.Flow.Table != CurrentTable) {
		return false
	}
	if m.Command == Modify || m.Command == Delete {
		return m.Flow.Match.Covers(f.Match) && m.filters(f)
	}
	return m.Flow.Priority == f.Priority && m.Flow.Match.Equal(f.Match) && m.filters(f)
}

// filters reports whether f has the cookie and the output that the command asks for.
func (m FlowMod) filters(f Flow) bool {
	if m.Command == Add {
		return true
	}
	if (f.Cookie^m.Flow.Cookie)&m.CookieMask != 0 {
		return false
	}
	return !m.Command.isDelete() || m.OutPort == 0 || outputsTo(f.Actions, m.OutPort)
}

// outputsTo reports whether some action, nested or not, sends frames to port p.
func outputsTo(actions []Action, p PortNo) bool {
	for _, a := range actions {
		switch a := a.(type) {
		case Output:
			if a.Port == p {
				return true
			}
		case Enqueue:
			if a.Port == p {
				return true
			}
		case Controller:
			if p == PortController {
				return true
			}
		case Clone:
			if outputsTo(a.Actions, p) {
				return true
			}
		case WriteActions:
			if outputsTo(a.Actions, p) {
				return true
			}
		}
	}
	return false
}

// Validate reports why the change cannot be made: what Flow.Validate says of its flow, tables
// that hold no flows, and settings that the command would ignore.
func (m FlowMod) Validate() error {
	f := m.Flow
	if f.Table == CurrentTable && m.Command.isDelete() {
		f.Table = 0
	}
	if m.CookieMask != 0 {
		f.Cookie = 0
	}
	if err := f.Validate(); err != nil {
		return err
	}
	f.Cookie = m.Flow.Cookie
	ignored := ""
	switch {
	case m.Command == Add && m.CookieMask != 0:
		ignored = "an add takes no cookie mask"
	case m.Command == Add && m.OutPort != 0, m.OutPort != 0 && !m.Command.isDelete():
		ignored = "only a delete takes an output port"
	case m.Command == Add:
		return nil
	case f.Cookie&^m.CookieMask != 0:
		ignored = "only an add sets the cookie"
	case f.IdleTimeout != 0 || f.HardTimeout != 0 || f.Importance != 0 || f.Flags&^ResetCounts != 0:
		ignored = "only an add sets timeouts, importance and flags"
	case m.Command.isDelete() && (len(f.Actions) > 0 || f.Flags != 0):
		ignored = "a delete takes no actions"
	}
	if ignored == "" {
		return nil
	}
	return &InvalidError{Token: m.String(), Problem: ignored}
}
