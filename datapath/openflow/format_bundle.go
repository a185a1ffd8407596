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
	b = m.appendFilter(b)
	if m.Command.isDelete() {
		return trimSeparator(m.appendTarget(b))
	}
	if m.Flow.Flags != 0 {
		b = append(m.Flow.Flags.append(b), ' ')
	}
	b = trimSeparator(m.appendTarget(b))
	return appendActions(append(b, " actions="...), m.Flow.Actions)
}

// appendFilter writes the cookie, the table and the output port that select flows.
func (m FlowMod) appendFilter(b []byte) []byte {
	if m.CookieMask != 0 {
		b = appendHex(append(b, "cookie="...), U64(m.Flow.Cookie), 1)
		b = append(appendHex(append(b, '/'), U64(m.CookieMask), 1), ", "...)
	}
	if m.Flow.Table != CurrentTable {
		b = append(appendUint(b, "table=", m.Flow.Table), ", "...)
	}
	if m.Command.isDelete() && m.OutPort != 0 {
		b = append(appendPort(b, "out_port=", m.OutPort), ", "...)
	}
	return b
}

// appendTarget writes the match that selects flows and, if it is strict, the priority.
func (m FlowMod) appendTarget(b []byte) []byte {
	if m.Command.isStrict() {
		return m.Flow.appendCondition(b)
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
