package openflow

import (
	"strconv"
	"time"
)

// String is the flow in ovs-ofctl's syntax, such as
// "cookie=0x1, table=0, idle_timeout=10, priority=5,ip,nw_dst=10.0.0.1 actions=output:2".
// Table and priority are always there, the cookie only if it is not zero.
func (f Flow) String() string { return string(f.append(nil)) }

func (f Flow) append(b []byte) []byte {
	if f.Cookie != 0 {
		b = append(appendHex(append(b, "cookie="...), U64(f.Cookie), 1), ", "...)
	}
	b = append(appendUint(b, "table=", f.Table), ", "...)
	return f.appendRule(f.appendOptions(b))
}

func (f Flow) appendOptions(b []byte) []byte {
	if f.IdleTimeout != 0 {
		b = append(appendUint(b, "idle_timeout=", f.IdleTimeout), ", "...)
	}
	if f.HardTimeout != 0 {
		b = append(appendUint(b, "hard_timeout=", f.HardTimeout), ", "...)
	}
	if f.Importance != 0 {
		b = append(appendUint(b, "importance=", f.Importance), ", "...)
	}
	if f.Flags != 0 {
		b = append(f.Flags.append(b), ' ')
	}
	return b
}

func (f Flow) appendRule(b []byte) []byte {
	b = f.appendCondition(b)
	return appendActions(append(b, " actions="...), f.Actions)
}

func (f Flow) appendCondition(b []byte) []byte {
	b = appendUint(b, "priority=", f.Priority)
	if len(f.Match.terms) > 0 {
		b = f.Match.append(append(b, ','))
	}
	return b
}

var flagNames = []bitName{
	{uint64(SendFlowRem), "send_flow_rem"}, {uint64(CheckOverlap), "check_overlap"}, {uint64(ResetCounts), "reset_counts"},
	{uint64(NoPacketCounts), "no_packet_counts"}, {uint64(NoByteCounts), "no_byte_counts"},
}

// String is the flags' names, separated by blanks.
func (f Flags) String() string { return string(f.append(nil)) }

func (f Flags) append(b []byte) []byte {
	start := len(b)
	for _, n := range flagNames {
		if uint64(f)&n.bit == 0 {
			continue
		}
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(b, n.name...)
	}
	return b
}

// String is the entry as a line of "ovs-ofctl dump-flows", without the leading blank and with
// the priority even if it is the default one.
func (e FlowEntry) String() string { return string(e.append(nil)) }

func (e FlowEntry) append(b []byte) []byte {
	b = appendHex(append(b, "cookie="...), U64(e.Cookie), 1)
	b = appendDuration(append(b, ", duration="...), e.Duration)
	b = appendUint(append(b, 's'), ", table=", e.Table)
	b = appendUint(appendUint(b, ", n_packets=", e.Packets), ", n_bytes=", e.Bytes)
	b = e.appendOptions(append(b, ", "...))
	b = appendDuration(append(b, "idle_age="...), e.IdleAge)
	if e.HardAge != e.Duration {
		b = appendDuration(append(b, ", hard_age="...), e.HardAge)
	}
	return e.appendRule(append(b, ", "...))
}

// appendDuration writes seconds with no, three or nine decimals, as OVS does.
func appendDuration(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	switch ns := int64(d % time.Second); {
	case ns == 0:
		return b
	case ns%int64(time.Millisecond) == 0:
		return appendDecimals(b, ns/int64(time.Millisecond), 3)
	default:
		return appendDecimals(b, ns, 9)
	}
}

func appendDecimals(b []byte, n int64, digits int) []byte {
	s := strconv.FormatInt(n, 10)
	b = append(b, '.')
	for range digits - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

// String is the program's flows, one a line, in canonical order.
func (p Program) String() string {
	b := make([]byte, 0, 128*len(p.flows)) // most flows are shorter
	for _, f := range p.flows {
		b = append(f.append(b), '\n')
	}
	return string(b)
}
