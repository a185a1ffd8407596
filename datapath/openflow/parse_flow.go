package openflow

import (
	"slices"
	"strings"
)

// ParseFlow reads a flow as "ovs-ofctl add-flow" takes it, such as
// "table=1,priority=5,ip,nw_dst=10.0.0.1 actions=output:2". What OVS would quietly drop, widen
// or truncate is an error. Statistics, as in a dump, are skipped. Every fault is a *SyntaxError.
func ParseFlow(line string, opts ...Option) (Flow, error) {
	e, err := parseEntry(text{line, 0}, newOptions(opts))
	return e.Flow, err
}

// ParseFlowEntry reads a line of "ovs-ofctl dump-flows". Since a switch took the flow, its
// actions may lack prerequisites, as OpenFlow 1.0 allows; Flow.Validate finds them. Every fault
// is a *SyntaxError.
func ParseFlowEntry(line string, opts ...Option) (FlowEntry, error) {
	o := newOptions(opts)
	o.dump = true
	return parseEntry(text{line, 0}, o)
}

func parseEntry(t text, o *options) (FlowEntry, error) {
	p := newFlowParser(o, Add)
	err := p.parse(t)
	return FlowEntry{Flow: p.mod.Flow, Stats: p.stats}, err
}

// flowParser reads the line of a flow or of a change to flows.
type flowParser struct {
	o     *options
	mod   FlowMod
	stats Stats
	match matchParser
	seen  uint // of flowKeys, by bit
	table bool // the line names a table

	check checker
	list  []Action // room to collect actions in
	lists lists    // that lines before had
	words []word   // that lines before had, by place
}

func newFlowParser(o *options, c Command) *flowParser {
	p := &flowParser{}
	p.begin(o, c)
	return p
}

// begin readies p for a line, keeping its buffers.
func (p *flowParser) begin(o *options, c Command) {
	p.o, p.mod, p.stats = o, FlowMod{Command: c, Flow: Flow{Priority: DefaultPriority}}, Stats{}
	p.match.begin(o)
	p.seen, p.table, p.list = 0, false, p.list[:0]
}

// parse reads all of a line.
func (p *flowParser) parse(t text) error {
	if actions, ok := p.quick(t); ok {
		return p.actions(actions)
	}
	return p.parseSlowly(t)
}

// parseSlowly reads whatever there is, and says what is wrong with it.
func (p *flowParser) parseSlowly(t text) error {
	actions, found, err := p.conditions(t)
	if err != nil {
		return err
	}
	if p.mod.Flow.Match, err = p.match.finish(); err != nil {
		return err
	}
	if err := p.checkLine(t, actions, found); err != nil || !found {
		return err
	}
	return p.actions(actions)
}

// actions reads what follows "actions=".
func (p *flowParser) actions(t text) (err error) {
	f := &p.mod.Flow
	lists := p.lists
	if p.o.dump {
		lists = nil // what a switch took need not be right elsewhere
	}
	if same, ok := lists.find(t.s, f); ok {
		f.Actions = same
		return nil
	}
	p.check = *newChecker(f.Match, int(f.Table))
	p.check.trust = p.o.dump
	list := actionParser{o: p.o, c: &p.check, actions: p.list}
	if p.list, err = list.list(t); err != nil {
		return err
	}
	if len(p.list) > 0 {
		f.Actions = slices.Clone(p.list)
	}
	lists.add(t.s, f)
	return nil
}

// conditions reads up to "actions=" and returns what follows it.
func (p *flowParser) conditions(t text) (actions text, found bool, err error) {
	for {
		t = t.skip()
		for _, key := range [...]string{"actions=", "action="} {
			if strings.HasPrefix(t.s, key) {
				return t.from(len(key)), true, nil
			}
		}
		var it item
		tail, ok, err := t.next(&it)
		if err != nil || !ok {
			return tail, false, err
		}
		if err := p.item(it); err != nil {
			return tail, false, err
		}
		t = tail
	}
}

// checkLine checks what the command demands of the whole line.
func (p *flowParser) checkLine(t, actions text, found bool) error {
	switch c := p.mod.Command; {
	case c.isDelete() && found:
		return actions.fault("a delete takes no actions", "remove them")
	case !c.isDelete() && !found:
		return t.fault("actions are missing", "add actions=drop")
	case (c == Modify || c == ModifyStrict) && !p.table:
		return t.fault("a modify must say which table: in a bundle OVS would change table 0 only", "add table=0")
	case c.isDelete() && !p.table:
		p.mod.Flow.Table = CurrentTable
	}
	return nil
}

// item reads one thing of a line before "actions=".
func (p *flowParser) item(it item) error {
	read := flowKeys[it.key.s]
	if read == nil {
		p.match.add(it)
		return nil
	}
	if p.seen&read.bit != 0 {
		return it.again()
	}
	p.seen |= read.bit
	if !read.allowed(p.mod.Command) {
		remedy := read.instead
		if remedy == useAdd && p.mod.Command.isDelete() {
			remedy = "remove it"
		}
		return it.all.fault(it.key.s+" does not go with "+p.mod.Command.String(), remedy)
	}
	if read.flag != 0 {
		p.mod.Flow.Flags |= read.flag
		return it.flag()
	}
	value, err := it.assigned()
	if err != nil {
		return err
	}
	return read.value(p, value)
}

// flowKey says how to read one key of a flow line and with which commands it goes.
type flowKey struct {
	bit      uint // of those seen
	value    func(*flowParser, text) error
	flag     Flags
	commands []Command // nil: all
	instead  string
}

func (k *flowKey) allowed(c Command) bool { return k.commands == nil || slices.Contains(k.commands, c) }

const useAdd = "use add, which keeps the counters"

var flowKeys map[string]*flowKey

func init() {
	onAdd, deletes := []Command{Add}, []Command{Delete, DeleteStrict}
	flowKeys = map[string]*flowKey{
		"table":  {value: (*flowParser).readTable},
		"cookie": {value: (*flowParser).readCookie},
		"priority": {value: uint16Key(func(p *flowParser) *uint16 { return &p.mod.Flow.Priority }),
			commands: []Command{Add, ModifyStrict, DeleteStrict}, instead: "use the strict command"},
		"idle_timeout": {value: uint16Key(func(p *flowParser) *uint16 { return &p.mod.Flow.IdleTimeout }), commands: onAdd, instead: useAdd},
		"hard_timeout": {value: uint16Key(func(p *flowParser) *uint16 { return &p.mod.Flow.HardTimeout }), commands: onAdd, instead: useAdd},
		"importance":   {value: uint16Key(func(p *flowParser) *uint16 { return &p.mod.Flow.Importance }), commands: onAdd, instead: useAdd},
		"out_port":     {value: (*flowParser).readOutPort, commands: deletes, instead: "remove it"},
		"out_group":    {value: func(_ *flowParser, t text) error { return t.fault("out_group is not supported", "") }},
		"duration":     {value: (*flowParser).readDuration, commands: onAdd},
		"idle_age":     {value: durationKey(func(p *flowParser) *durationField { return (*durationField)(&p.stats.IdleAge) }), commands: onAdd},
		"hard_age":     {value: durationKey(func(p *flowParser) *durationField { return (*durationField)(&p.stats.HardAge) }), commands: onAdd},
		"n_packets":    {value: countKey(func(p *flowParser) *uint64 { return &p.stats.Packets }), commands: onAdd},
		"n_bytes":      {value: countKey(func(p *flowParser) *uint64 { return &p.stats.Bytes }), commands: onAdd},
	}
	for _, n := range flagNames {
		k := &flowKey{flag: Flags(n.bit), commands: onAdd, instead: useAdd}
		if k.flag == ResetCounts {
			k.commands = []Command{Add, Modify, ModifyStrict}
		}
		flowKeys[n.name] = k
	}
	meanings["actions"], meanings["action"] = &meaning{actions: true}, &meaning{actions: true}
	bit := uint(1)
	for key, k := range flowKeys {
		meanings[key] = &meaning{flow: k}
		k.bit = bit
		bit <<= 1
	}
}

func uint16Key(target func(*flowParser) *uint16) func(*flowParser, text) error {
	return func(p *flowParser, t text) error {
		n, err := t.uint(16)
		*target(p) = uint16(n)
		return err
	}
}

func countKey(target func(*flowParser) *uint64) func(*flowParser, text) error {
	return func(p *flowParser, t text) error {
		n, err := t.uint(64)
		*target(p) = n
		return err
	}
}

func (p *flowParser) readTable(t text) error {
	n, err := t.tableID()
	p.mod.Flow.Table, p.table = n, true
	if err == nil && n > maxTable {
		return t.fault("no such table", "0 to 253")
	}
	return err
}

// tableID reads a table's number, which ovs-ofctl takes in decimal only.
func (t text) tableID() (TableID, error) {
	n, err := t.decimal("table", 8)
	return TableID(n), err
}

// readCookie reads a cookie to set or, with a mask, to select by.
func (p *flowParser) readCookie(t text) error {
	value, mask, masked := t.cut("/")
	cookie, err := value.uint(64)
	if err != nil {
		return err
	}
	p.mod.Flow.Cookie = cookie
	switch c := p.mod.Command; {
	case !masked && cookie == reservedCookie && !p.o.dump:
		return t.fault(reservedCookieProblem, "use another")
	case c == Add && masked:
		return t.fault("an add takes no cookie mask", "write cookie="+value.s)
	case c.isDelete() && !masked:
		return t.fault("a delete selects by cookie and mask", "write cookie="+value.s+"/-1")
	case !masked && c != Add:
		return t.fault("a modify in a bundle does not change the cookie", "use add, which keeps the counters, or select with cookie="+value.s+"/-1")
	case masked:
		return p.readCookieMask(t, mask)
	}
	return nil
}

func (p *flowParser) readCookieMask(whole, mask text) (err error) {
	p.mod.CookieMask = ^uint64(0)
	if mask.s != "-1" {
		p.mod.CookieMask, err = mask.uint(64)
	}
	switch {
	case err != nil:
		return err
	case p.mod.CookieMask == 0:
		return mask.fault("selects every cookie", "remove it")
	case p.mod.Flow.Cookie&^p.mod.CookieMask != 0:
		return whole.fault("cookie has bits outside its mask", "clear them")
	}
	return nil
}

func (p *flowParser) readOutPort(t text) error {
	port, err := p.o.port(t)
	p.mod.OutPort = port
	switch {
	case err != nil:
		return err
	case port == 0:
		return t.fault("selecting by output to port 0 is not supported", "")
	case port == PortNone:
		return t.fault("selects every port", "remove it")
	}
	return nil
}

// readDuration reads the age of a flow. Without hard_age that is its age since modification, too.
func (p *flowParser) readDuration(t text) error {
	err := durationKey(func(p *flowParser) *durationField { return (*durationField)(&p.stats.Duration) })(p, t)
	if p.seen&flowKeys["hard_age"].bit == 0 {
		p.stats.HardAge = p.stats.Duration
	}
	return err
}

// isStats reports whether a line shows statistics, as a dump does.
func isStats(line string) bool {
	return strings.Contains(line, "duration=") && strings.Contains(line, "n_packets=")
}
