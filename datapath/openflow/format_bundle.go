package openflow

var commandNames = [...]string{
	Add: "add", Modify: "modify", ModifyStrict: "modify_strict", Delete: "delete", DeleteStrict: "delete_strict",
}

// String is the word of a bundle file, such as "modify_strict".
func (c Command) String() string {
	if int(c) < len(commandNames) {
		return commandNames[c]
	}
	return "unknown"
}

// isDelete reports whether the command takes flows away.
func (c Command) isDelete() bool { return c == Delete || c == DeleteStrict }

// isStrict reports whether the command selects by exact match and priority.
func (c Command) isStrict() bool { return c == ModifyStrict || c == DeleteStrict }

// String is the change as a line of a bundle file, such as
// "flow delete_strict table=1, priority=5,ip". An add looks as Flow.String does.
func (m FlowMod) String() string { return string(m.append(nil)) }

func (m FlowMod) append(b []byte) []byte {
	b = append(append(b, "flow "...), m.Command.String()...)
	b = append(b, ' ')
	if m.Command == Add {
		return m.Flow.append(b)
	}
	b = m.appendCookie(b)
	if m.Flow.Table != CurrentTable {
		b = append(appendUint(b, "table=", m.Flow.Table), ", "...)
	}
	if m.Command.isDelete() {
		return m.appendTarget(b)
	}
	return appendActions(append(m.appendTarget(m.Flow.appendOptions(b)), " actions="...), m.Flow.Actions)
}

// appendCookie writes the cookie that filters, or else the one that a modify sets.
func (m FlowMod) appendCookie(b []byte) []byte {
	switch {
	case m.CookieMask != 0:
		b = appendHex(append(b, "cookie="...), U64(m.Flow.Cookie), 1)
		b = appendHex(append(b, '/'), U64(m.CookieMask), 1)
	case !m.Command.isDelete():
		b = appendHex(append(b, "cookie="...), U64(m.Flow.Cookie), 1)
	default:
		return b
	}
	return append(b, ", "...)
}

// appendTarget writes what selects the flows to change. Loose commands have no priority.
func (m FlowMod) appendTarget(b []byte) []byte {
	if m.Command.isDelete() && m.OutPort != 0 {
		b = append(appendPort(b, "out_port=", m.OutPort), ", "...)
	}
	if m.Command.isStrict() || m.Command == Modify {
		return m.Flow.appendCondition(b)
	}
	if len(m.Flow.Match.terms) == 0 {
		return trimSeparator(b)
	}
	return m.Flow.Match.append(b)
}

// trimSeparator takes a trailing ", " or " " off.
func trimSeparator(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == ',') {
		b = b[:len(b)-1]
	}
	return b
}

// String is the bundle as a file that "ovs-ofctl bundle" reads, one change a line.
func (b Bundle) String() string {
	var text []byte
	for _, m := range b {
		text = append(m.append(text), '\n')
	}
	return string(text)
}
