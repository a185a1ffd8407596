package openflow

import "strings"

// output reads "output:2", "output:NXM_NX_REG0[0..15]" and "output(reg0)".
func (p *actionParser) output(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	if it.delim == '(' && strings.Contains(value.s, "=") {
		return nil, value.fault("truncated output is not supported", "")
	}
	return p.outputTo(value)
}

// bareOutput reads an output without its keyword: "2", "p2", "LOCAL".
func (p *actionParser) bareOutput(it item) (Action, error) {
	if it.key.s[0] == '"' || it.key.s[0] >= '0' && it.key.s[0] <= '9' || p.namesPort(it.key.s) {
		return p.outputTo(it.key)
	}
	return nil, it.key.fault("unknown action or port", "see ovs-actions(7)")
}

// namesPort reports whether word is the name of a port.
func (p *actionParser) namesPort(word string) bool {
	if _, ok := p.o.ports[word]; ok {
		return true
	}
	for _, n := range portNames {
		if strings.EqualFold(n.name, word) {
			return true
		}
	}
	return false
}

func (p *actionParser) outputTo(t text) (Action, error) {
	name, _, _ := t.cut("[")
	if fieldsNamed(name.s) != nil && !p.namesPort(t.s) {
		s, err := t.subfield()
		return OutputField{s}, err
	}
	port, err := p.o.port(t)
	if err == nil && port == PortController {
		return Controller{MaxLen: 0xffff, Reason: ReasonAction}, nil
	}
	return Output{port}, err
}

// controller reads "CONTROLLER", "CONTROLLER:128" and "controller(reason=no_match,max_len=100,id=5)".
func (p *actionParser) controller(it item) (Action, error) {
	a := Controller{MaxLen: 0xffff, Reason: ReasonAction}
	if it.delim != '(' {
		if it.delim == 0 {
			return a, nil
		}
		err := readDecimal16(it.value, "length", &a.MaxLen)
		return a, err
	}
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	args := arguments{of: "controller"}
	args.add("max_len", func(t text) error { return readUint16(t, &a.MaxLen) })
	args.add("id", func(t text) error { return readUint16(t, &a.ID) })
	args.add("reason", func(t text) (err error) {
		a.Reason, err = readReason(t)
		return err
	})
	return a, args.read(list)
}

func readUint16(t text, to *uint16) error {
	n, err := t.uint(16)
	*to = uint16(n)
	return err
}

// readDecimal16 reads what ovs-ofctl takes in decimal only. what names it in a fault.
func readDecimal16(t text, what string, to *uint16) error {
	n, err := t.decimal(what, 16)
	*to = uint16(n)
	return err
}

func readReason(t text) (PacketInReason, error) {
	for r, name := range reasonNames {
		if name == t.s {
			return PacketInReason(r), nil
		}
	}
	return 0, t.fault("unknown reason", "one of "+strings.Join(reasonNames[:], " "))
}

// arguments reads lists of "key=value", each key at most once.
type arguments struct {
	of    string
	known []argument
	seen  keys
}

type argument struct {
	key  string
	read func(text) error
}

func (a *arguments) add(key string, read func(text) error) {
	a.known = append(a.known, argument{key, read})
}

func (a *arguments) read(list text) error { return list.each(a.item) }

func (a *arguments) item(it item) error {
	for _, k := range a.known {
		if k.key != it.key.s {
			continue
		}
		if err := a.seen.again(it); err != nil {
			return err
		}
		value, err := it.assigned()
		if err != nil {
			return err
		}
		return k.read(value)
	}
	return it.all.fault(a.of+" has no such argument, or it is not supported", "")
}

// enqueue reads "enqueue:2:3" and "enqueue(2,3)".
func (p *actionParser) enqueue(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	sep := ":"
	if it.delim == '(' {
		sep = ","
	}
	left, right, ok := value.cut(sep)
	if !ok {
		return nil, it.all.fault("queue is missing", "write enqueue:PORT:QUEUE")
	}
	port, err := p.o.port(left)
	if err != nil {
		return nil, err
	}
	queue, err := right.uint(32)
	return Enqueue{port, uint32(queue)}, err
}

// resubmit reads "resubmit:5", "resubmit(5)", "resubmit(2,5)" and "resubmit(,5)".
func (p *actionParser) resubmit(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	a := Resubmit{PortIn, CurrentTable}
	left, right, comma := value.cut(",")
	if left.s != "" {
		if a.InPort, err = p.o.port(left); err != nil {
			return nil, err
		}
	}
	if comma && right.s != "" {
		if strings.Contains(right.s, ",") {
			return nil, right.fault("resubmit with ct is not supported", "")
		}
		a.Table, err = right.tableID()
	}
	return a, err
}

func (p *actionParser) gotoTable(it item) (Action, error) {
	value, err := it.argument()
	if err != nil {
		return nil, err
	}
	table, err := value.tableID()
	return GotoTable{table}, err
}
