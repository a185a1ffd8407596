package openflow

import "strconv"

// String is the subfield as move, push and learn write it: "NXM_NX_REG0[]",
// "NXM_NX_REG0[3]" or "NXM_NX_REG0[0..15]".
func (s Subfield) String() string { return string(s.append(nil)) }

// Append appends what String returns.
func (s Subfield) Append(b []byte) []byte { return s.append(b) }

func (s Subfield) append(b []byte) []byte {
	b = append(append(b, s.Field.Header()...), '[')
	if !s.IsWhole() {
		b = strconv.AppendUint(b, uint64(s.Offset), 10)
		if s.Width != 1 {
			b = strconv.AppendUint(append(b, ".."...), uint64(s.Offset)+uint64(s.Width)-1, 10)
		}
	}
	return append(b, ']')
}

// portName is a reserved port's name.
type portName struct {
	port PortNo
	name string
}

var portNames = []portName{
	{PortIn, "IN_PORT"}, {PortTable, "TABLE"}, {PortNormal, "NORMAL"}, {PortFlood, "FLOOD"}, {PortAll, "ALL"},
	{PortController, "CONTROLLER"}, {PortLocal, "LOCAL"}, {PortNone, "ANY"}, {PortNone, "NONE"},
}

// String is the port's number, or the name of a reserved one, such as "LOCAL".
func (p PortNo) String() string { return string(p.append(nil)) }

func (p PortNo) append(b []byte) []byte {
	if name := p.reserved(); name != "" {
		return append(b, name...)
	}
	return strconv.AppendUint(b, uint64(p), 10)
}

// reserved is the name of a reserved port, or "".
func (p PortNo) reserved() string {
	if p < PortMax {
		return ""
	}
	for _, n := range portNames {
		if n.port == p {
			return n.name
		}
	}
	return ""
}
