package ovsbackend

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// parseConns reads the output of dpctl/dump-conntrack -s (ovs-dpctl(8)).
func parseConns(text string) ([]datapath.Conn, error) {
	var conns []datapath.Conn
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		c, err := parseConn(line)
		if err != nil {
			return nil, fmt.Errorf("read line %d of dump-conntrack, %q: %w", n, line, err)
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// protocols that dump-conntrack names; others are numbers.
var protocolNumbers = map[string]uint8{
	"icmp": openflow.ProtoICMP, "igmp": 2, "tcp": openflow.ProtoTCP, "udp": openflow.ProtoUDP, "dccp": 33,
	"icmpv6": openflow.ProtoICMPv6, "sctp": openflow.ProtoSCTP, "udplite": 136,
}

// parseConn reads "tcp,orig=(…),reply=(…),zone=4,timeout=30,mark=5,labels=0x7,protoinfo=(state=ESTABLISHED)".
func parseConn(line string) (c datapath.Conn, err error) {
	words, err := splitOutside(line)
	if err != nil {
		return c, err
	}
	proto, known := protocolNumbers[words[0]]
	if !known {
		n, err := strconv.ParseUint(words[0], 10, 8)
		if err != nil {
			return c, fmt.Errorf("unknown protocol %q", words[0])
		}
		proto = uint8(n)
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if err := setConn(&c, proto, key, value); err != nil {
			return c, fmt.Errorf("%s: %w", w, err)
		}
	}
	if proto != openflow.ProtoTCP {
		c.State = ""
	}
	return c, nil
}

func setConn(c *datapath.Conn, proto uint8, key, value string) (err error) {
	switch key {
	case "orig":
		c.Orig, err = parseTuple(proto, value)
	case "reply":
		c.Reply, err = parseTuple(proto, value)
	case "zone":
		err = parseInt(value, &c.Zone)
	case "mark":
		err = parseInt(value, &c.Mark)
	case "labels":
		c.Label, err = parseLabel(value)
	case "timeout":
		var seconds uint32
		err = parseInt(value, &seconds)
		c.Timeout = time.Duration(seconds) * time.Second
	case "protoinfo":
		c.State, _ = strings.CutPrefix(strings.Trim(value, "()"), "state=")
	case "id", "status", "start", "stop", "helper", "parent": // of the kernel; not of interest here
	default:
		err = fmt.Errorf("unknown field")
	}
	return err
}

// parseTuple reads "(src=10.0.0.1,dst=10.0.0.2,sport=1,dport=2)" or, of ICMP, "(src=…,dst=…,id=5,type=8,code=0)".
func parseTuple(proto uint8, s string) (datapath.Tuple, error) {
	t := datapath.Tuple{Proto: proto}
	words, err := splitOutside(strings.TrimSuffix(strings.TrimPrefix(s, "("), ")"))
	if err != nil {
		return t, err
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		var err error
		switch key {
		case "src":
			t.Src, err = netip.ParseAddr(value)
		case "dst":
			t.Dst, err = netip.ParseAddr(value)
		case "sport":
			err = parseInt(value, &t.SrcPort)
		case "dport":
			err = parseInt(value, &t.DstPort)
		case "id":
			err = parseInt(value, &t.ID)
		case "type":
			err = parseInt(value, &t.Type)
		case "code":
			err = parseInt(value, &t.Code)
		case "packets", "bytes", "zone", "key": // of the kernel
		default:
			err = fmt.Errorf("unknown field")
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", w, err)
		}
	}
	return t, nil
}

// parseInt reads a number that fits.
func parseInt[T uint8 | uint16 | uint32](s string, out *T) error {
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil || uint64(T(n)) != n {
		return fmt.Errorf("not a number that fits")
	}
	*out = T(n)
	return nil
}

// parseLabel reads up to 128 bits, "0x" and digits.
func parseLabel(s string) (openflow.Value, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	digits = strings.Repeat("0", max(0, 32-len(digits))) + digits
	hi, err := strconv.ParseUint(digits[:len(digits)-16], 16, 64)
	if err != nil || !ok {
		return openflow.Value{}, fmt.Errorf("not a label of 128 bits")
	}
	lo, err := strconv.ParseUint(digits[len(digits)-16:], 16, 64)
	if err != nil {
		return openflow.Value{}, fmt.Errorf("not a label of 128 bits")
	}
	return openflow.Value{Hi: hi, Lo: lo}, nil
}

// splitOutside splits at the commas that no parenthesis encloses.
func splitOutside(s string) (words []string, err error) {
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			words = append(words, s[from:i])
			from = i + 1
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("unbalanced parentheses")
	}
	return append(words, s[from:]), nil
}
