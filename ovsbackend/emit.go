package ovsbackend

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"
	"strconv"
	"strings"

	"hpnn/datapath"
	"hpnn/internal/packet"
)

// emission executes datapath actions as ofproto/trace prints them, to tell which frames would leave.
type emission struct {
	layout  layout
	frame   edited
	natted  bool // the tracker may have translated the frame
	outputs []datapath.Output
	forks   map[string]edited // the frame at each "recirc(0x1)", before a translation
}

// run executes a list of actions. A frame that an action changes in a way not known here has no bytes from
// then on.
func (x *emission) run(actions string) {
	words, err := splitOutside(actions)
	if err != nil {
		x.frame.forget()
		return
	}
	for _, word := range words {
		name, args, _ := strings.Cut(word, "(")
		x.do(word, name, strings.TrimSuffix(args, ")"))
	}
}

func (x *emission) do(word, name, args string) {
	if x.natted && name != "recirc" {
		x.frame.forget()
	}
	switch name {
	case "drop", "userspace", "ct_clear", "hash", "meter":
	case "ct":
		x.natted = strings.Contains(args, "nat")
	case "recirc":
		x.forks[word] = x.frame.clone()
	case "clone":
		inner := emission{layout: x.layout, frame: x.frame.clone(), forks: x.forks}
		inner.run(args)
		x.outputs = append(x.outputs, inner.outputs...)
	case "check_pkt_len":
		x.checkLength(args)
	case "set":
		kind, fields, _ := strings.Cut(args, "(")
		x.set(kind, strings.TrimSuffix(fields, ")"))
	case "push_vlan":
		x.pushVLAN(args)
	case "pop_vlan":
		x.frame.popTag()
	default:
		x.output(word)
	}
}

// output sends the frame, if the word is a port. Any other action is not known here.
func (x *emission) output(word string) {
	n, err := strconv.Atoi(word)
	if err != nil {
		x.frame.forget()
		return
	}
	if p, ok := x.layout.ports[n]; ok {
		x.outputs = append(x.outputs, datapath.Output{Port: p, Frame: x.frame.clone().bytes})
	}
}

// checkLength executes "check_pkt_len(size=100,gt(…),le(…))": one of two lists, by the frame's length.
func (x *emission) checkLength(args string) {
	words, err := splitOutside(args)
	if err != nil || len(words) != 3 || x.frame.bytes == nil {
		x.frame.forget()
		return
	}
	list := words[2]
	if len(x.frame.bytes) > atoi(strings.TrimPrefix(words[0], "size=")) {
		list = words[1]
	}
	_, list, _ = strings.Cut(list, "(")
	x.run(strings.TrimSuffix(list, ")"))
}

// pushVLAN reads "tpid=0x88a8,vid=5,pcp=0".
func (x *emission) pushVLAN(args string) {
	tpid, tci := uint64(packet.TypeVLAN), uint64(0)
	for key, value := range pairs(args) {
		n, err := strconv.ParseUint(value, 0, 16)
		switch {
		case err != nil:
			x.frame.forget()
		case key == "tpid":
			tpid = n
		case key == "vid":
			tci |= n
		case key == "pcp":
			tci |= n << 13
		default:
			x.frame.forget()
		}
	}
	x.frame.pushTag(uint16(tpid), uint16(tci))
}

// pairs are the keys and values in a list.
func pairs(list string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, word := range strings.Split(list, ",") {
			key, value, _ := strings.Cut(word, "=")
			if !yield(key, value) {
				return
			}
		}
	}
}

// set executes "set(KIND(FIELDS))".
func (x *emission) set(kind, fields string) {
	if kind == "icmp" {
		x.setICMP(fields)
		return
	}
	for key, value := range pairs(fields) {
		if setter, ok := setters[kind+" "+key]; !ok || !setter(&x.frame, value) {
			x.frame.forget()
			return
		}
	}
}

// setICMP sets type and code, which are always both there.
func (x *emission) setICMP(fields string) {
	var kind, code int
	if _, err := fmt.Sscanf(fields, "type=%d,code=%d", &kind, &code); err != nil {
		x.frame.forget()
		return
	}
	x.frame.setICMP(byte(kind), byte(code))
}

// setters write a field of a set() action. They return false if they do not understand the value, for example
// one under a mask.
var setters = map[string]func(e *edited, value string) bool{
	"eth dst":  setMAC(func(e *edited, m []byte) { e.setBytes(0, m) }),
	"eth src":  setMAC(func(e *edited, m []byte) { e.setBytes(6, m) }),
	"ipv4 src": setIP(func(e *edited, a netip.Addr) { e.setAddress(ipv4Src, a) }),
	"ipv4 dst": setIP(func(e *edited, a netip.Addr) { e.setAddress(ipv4Dst, a) }),
	"ipv4 ttl": setNumber(func(e *edited, n uint16) { e.setHeaderByte(8, byte(n), 0xff) }),
	"ipv4 tos": setTOS,
	"tcp src":  setNumber(func(e *edited, n uint16) { e.setPort(0, n) }),
	"tcp dst":  setNumber(func(e *edited, n uint16) { e.setPort(2, n) }),
	"udp src":  setNumber(func(e *edited, n uint16) { e.setPort(0, n) }),
	"udp dst":  setNumber(func(e *edited, n uint16) { e.setPort(2, n) }),
	"arp op":   setNumber(func(e *edited, n uint16) { e.setARP(6, binary.BigEndian.AppendUint16(nil, n)) }),
	"arp sha":  setMAC(func(e *edited, m []byte) { e.setARP(8, m) }),
	"arp sip":  setIP(func(e *edited, a netip.Addr) { e.setARP(14, a.AsSlice()) }),
	"arp tha":  setMAC(func(e *edited, m []byte) { e.setARP(18, m) }),
	"arp tip":  setIP(func(e *edited, a netip.Addr) { e.setARP(24, a.AsSlice()) }),
}

func setMAC(write func(*edited, []byte)) func(*edited, string) bool {
	return func(e *edited, value string) bool {
		m, err := packet.ParseMAC(value)
		if err == nil {
			write(e, m[:])
		}
		return err == nil
	}
}

func setIP(write func(*edited, netip.Addr)) func(*edited, string) bool {
	return func(e *edited, value string) bool {
		a, err := netip.ParseAddr(value)
		if err == nil {
			write(e, a)
		}
		return err == nil
	}
}

func setNumber(write func(*edited, uint16)) func(*edited, string) bool {
	return func(e *edited, value string) bool {
		n, err := strconv.ParseUint(value, 0, 16)
		if err == nil {
			write(e, uint16(n))
		}
		return err == nil
	}
}

// setTOS reads a value with or without a mask.
func setTOS(e *edited, value string) bool {
	text, mask, masked := strings.Cut(value, "/")
	m := uint64(0xff)
	n, err := strconv.ParseUint(text, 0, 8)
	if err == nil && masked {
		m, err = strconv.ParseUint(mask, 0, 8)
	}
	if err == nil {
		e.setHeaderByte(1, byte(n), byte(m))
	}
	return err == nil
}
