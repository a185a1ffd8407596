package openflow

import (
	"strconv"
)

// appendActions writes a list of actions, "drop" for an empty one.
func appendActions(b []byte, actions []Action) []byte {
	if len(actions) == 0 {
		return append(b, "drop"...)
	}
	return appendActionList(b, actions)
}

// appendActionList writes a list of actions, nothing for an empty one.
func appendActionList(b []byte, actions []Action) []byte {
	for i, a := range actions {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.append(b)
	}
	return b
}

// FormatActions is a list of actions as a dump shows it after "actions="; "drop" if it is empty.
func FormatActions(actions []Action) string { return string(appendActions(nil, actions)) }

func appendUint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](b []byte, word string, n T) []byte {
	return strconv.AppendUint(append(b, word...), uint64(n), 10)
}

func appendPort(b []byte, word string, p PortNo) []byte { return p.append(append(b, word...)) }

func (a Output) append(b []byte) []byte {
	if a.Port.reserved() != "" {
		return a.Port.append(b)
	}
	return appendPort(b, "output:", a.Port)
}

func (a OutputField) append(b []byte) []byte { return a.Src.append(append(b, "output:"...)) }

var reasonNames = [...]string{ReasonNoMatch: "no_match", ReasonAction: "action", ReasonInvalidTTL: "invalid_ttl"}

// String is the reason's name, such as "no_match".
func (r PacketInReason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

func (a Controller) append(b []byte) []byte {
	if a.Reason == ReasonAction && a.ID == 0 {
		return appendUint(b, "CONTROLLER:", a.MaxLen)
	}
	b = append(b, "controller("...)
	start := len(b)
	if a.Reason != ReasonAction {
		b = append(append(b, "reason="...), a.Reason.String()...)
	}
	if a.MaxLen != 0xffff {
		b = appendUint(comma(b, start), "max_len=", a.MaxLen)
	}
	if a.ID != 0 {
		b = appendUint(comma(b, start), "id=", a.ID)
	}
	return append(b, ')')
}

func (a Resubmit) append(b []byte) []byte {
	if a.Table == CurrentTable {
		return appendPort(b, "resubmit:", a.InPort)
	}
	b = append(b, "resubmit("...)
	if a.InPort != PortIn {
		b = a.InPort.append(b)
	}
	return append(appendUint(b, ",", a.Table), ')')
}

func (a GotoTable) append(b []byte) []byte { return appendUint(b, "goto_table:", a.Table) }

func (a Push) append(b []byte) []byte { return a.Src.append(append(b, "push:"...)) }

func (a Pop) append(b []byte) []byte { return a.Dst.append(append(b, "pop:"...)) }

func (a SetVLANVID) append(b []byte) []byte { return appendUint(b, "mod_vlan_vid:", a.VID) }

func (a SetVLANPCP) append(b []byte) []byte { return appendUint(b, "mod_vlan_pcp:", a.PCP) }

func (a PushVLAN) append(b []byte) []byte {
	return appendHex(append(b, "push_vlan:"...), U64(uint64(a.EthType)), 4)
}

func (a PopVLAN) append(b []byte) []byte { return append(b, "pop_vlan"...) }

func (a DecTTL) append(b []byte) []byte {
	b = append(b, "dec_ttl"...)
	for i, id := range a.Controllers {
		sep := ","
		if i == 0 {
			sep = "("
		}
		b = appendUint(b, sep, id)
	}
	if len(a.Controllers) > 0 {
		b = append(b, ')')
	}
	return b
}

func (a CTClear) append(b []byte) []byte { return append(b, "ct_clear"...) }

func (a WriteMetadata) append(b []byte) []byte {
	b = appendHexValue(append(b, "write_metadata:"...), U64(a.Value))
	if a.Mask == ^uint64(0) {
		return b
	}
	return appendHexValue(append(b, '/'), U64(a.Mask))
}

func (a WriteActions) append(b []byte) []byte {
	b = append(b, "write_actions("...)
	return append(appendActions(b, a.Actions), ')')
}

func (a ClearActions) append(b []byte) []byte { return append(b, "clear_actions"...) }

func (a Clone) append(b []byte) []byte {
	b = append(b, "clone("...)
	return append(appendActions(b, a.Actions), ')')
}

func (a CheckPacketLarger) append(b []byte) []byte {
	b = appendUint(b, "check_pkt_larger(", a.Length)
	return a.Dst.append(append(b, ")->"...))
}

func (a FinTimeout) append(b []byte) []byte {
	b = append(b, "fin_timeout("...)
	start := len(b)
	if a.Idle != 0 {
		b = appendUint(b, "idle_timeout=", a.Idle)
	}
	if a.Hard != 0 {
		b = appendUint(comma(b, start), "hard_timeout=", a.Hard)
	}
	return append(b, ')')
}

func (a Group) append(b []byte) []byte { return appendUint(b, "group:", a.ID) }

func (a Meter) append(b []byte) []byte { return appendUint(b, "meter:", a.ID) }

func (a SetQueue) append(b []byte) []byte { return appendUint(b, "set_queue:", a.ID) }

func (a PopQueue) append(b []byte) []byte { return append(b, "pop_queue"...) }

func (a Enqueue) append(b []byte) []byte {
	return appendUint(appendPort(b, "enqueue:", a.Port), ":", a.Queue)
}

func (a Conjunction) append(b []byte) []byte {
	b = appendUint(append(b, "conjunction("...), "", a.ID)
	return append(appendUint(appendUint(b, ",", a.Clause), "/", a.Clauses), ')')
}

func (a Note) append(b []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, "note:"...)
	for i := range len(a.Data) {
		if i > 0 {
			b = append(b, '.')
		}
		b = append(b, hex[a.Data[i]>>4], hex[a.Data[i]&15])
	}
	return b
}

func (a Exit) append(b []byte) []byte { return append(b, "exit"...) }
