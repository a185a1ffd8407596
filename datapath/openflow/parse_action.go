package openflow

import (
	"fmt"
	"slices"
	"strings"
)

// ParseActions reads a list of actions, such as "dec_ttl,output:2", for frames that m matches:
// an action whose prerequisite m does not promise is an error. "drop" and "" are the empty list.
// Every fault is a *SyntaxError.
func ParseActions(s string, m Match, opts ...Option) ([]Action, error) {
	return parseActions(text{s, 0}, newOptions(opts), newChecker(m, -1))
}

// actionParser reads a list of actions one after the other.
type actionParser struct {
	o       *options
	c       *checker
	depth   int // of clones around the list
	actions []Action
}

func parseActions(t text, o *options, c *checker) ([]Action, error) {
	p := actionParser{o: o, c: c}
	return p.list(t)
}

func (p *actionParser) list(t text) ([]Action, error) {
	var drop text
	var it item
	for {
		tail, ok, err := t.next(&it)
		if err != nil || !ok {
			return p.actions, err
		}
		switch {
		case drop.s != "":
			return p.actions, drop.fault("drop goes with no other action", "remove one")
		case len(it.all.s) == len("drop") && strings.EqualFold(it.all.s, "drop"):
			if drop = it.all; len(p.actions) > 0 {
				return p.actions, drop.fault("drop goes with no other action", "remove one")
			}
		default:
			if err := p.item(it); err != nil {
				return p.actions, err
			}
		}
		t = tail
	}
}

// inner is a parser for the list inside an action.
func (p *actionParser) inner(s scope) *actionParser {
	c := p.c.nested(s)
	return &actionParser{o: p.o, c: c, depth: p.depth + 1}
}

func (p *actionParser) item(it item) error {
	read, err := p.reader(it)
	if err != nil {
		return err
	}
	a, err := read(p, it)
	if err != nil {
		return err
	}
	if err := p.c.check(a); err != nil {
		invalid := err.(*InvalidError)
		return it.all.fault(invalid.Problem, invalid.Remedy)
	}
	p.actions = append(p.actions, a)
	return nil
}

// actionReader reads one action.
type actionReader func(*actionParser, item) (Action, error)

// reader finds how to read an item. Keywords may be in any case, as for ovs-ofctl.
func (p *actionParser) reader(it item) (actionReader, error) {
	if read, ok := actionWords[it.key.s]; ok {
		return read, nil
	}
	word := strings.ToLower(it.key.s)
	if read, ok := actionWords[word]; ok {
		return read, nil
	}
	if slices.Contains(foreignActions, word) || strings.HasPrefix(word, "set_mpls_") {
		return nil, it.all.fault("action "+it.key.s+" is not supported", "")
	}
	if word == "nat" {
		return nil, it.all.fault("nat is an argument of ct", "write ct(nat)")
	}
	if it.delim == 0 {
		return (*actionParser).bareOutput, nil
	}
	return nil, it.key.fault("unknown action", "see ovs-actions(7)")
}

// foreignActions are the actions that OVS has and this package has not.
var foreignActions = []string{
	"bundle", "bundle_load", "sample", "encap", "decap", "dec_nsh_ttl", "push_mpls", "pop_mpls", "dec_mpls_ttl",
	"delete_field", "debug_recirc", "debug_slow", "set_vlan_vid", "set_vlan_pcp",
}

var actionWords map[string]actionReader

func init() {
	actionWords = map[string]actionReader{
		"output": (*actionParser).output, "controller": (*actionParser).controller,
		"enqueue": (*actionParser).enqueue, "resubmit": (*actionParser).resubmit,
		"goto_table": (*actionParser).gotoTable, "set_field": (*actionParser).setField,
		"load": (*actionParser).load, "move": (*actionParser).move,
		"push": (*actionParser).push, "pop": (*actionParser).pop,
		"push_vlan": (*actionParser).pushVLAN, "pop_vlan": plain(PopVLAN{}), "strip_vlan": plain(PopVLAN{}),
		"mod_vlan_vid": (*actionParser).modVLANVID, "mod_vlan_pcp": (*actionParser).modVLANPCP,
		"mod_dl_src": mod(EthSrc), "mod_dl_dst": mod(EthDst),
		"mod_nw_src": mod(IPSrc), "mod_nw_dst": mod(IPDst),
		"mod_nw_tos": (*actionParser).modTOS, "mod_nw_ecn": mod(IPECN), "mod_nw_ttl": mod(IPTTL),
		"mod_tp_src": modPort(TCPSrc, UDPSrc, SCTPSrc), "mod_tp_dst": modPort(TCPDst, UDPDst, SCTPDst),
		"set_tunnel": mod(TunID), "set_tunnel64": mod(TunID),
		"dec_ttl": (*actionParser).decTTL, "multipath": (*actionParser).multipath,
		"ct": (*actionParser).ct, "ct_clear": plain(CTClear{}), "learn": (*actionParser).learn,
		"write_metadata": (*actionParser).writeMetadata, "write_actions": (*actionParser).writeActions,
		"clear_actions": plain(ClearActions{}), "clone": (*actionParser).clone,
		"check_pkt_larger": (*actionParser).checkPacketLarger, "fin_timeout": (*actionParser).finTimeout,
		"group": number(func(id uint32) Action { return Group{id} }), "meter": number(func(id uint32) Action { return Meter{id} }),
		"set_queue": number(func(id uint32) Action { return SetQueue{id} }), "pop_queue": plain(PopQueue{}),
		"conjunction": (*actionParser).conjunction, "note": (*actionParser).note, "exit": plain(Exit{}),
	}
}

// plain reads an action without arguments.
func plain(a Action) actionReader {
	return func(_ *actionParser, it item) (Action, error) { return a, it.flag() }
}

// number reads an action with one 32-bit argument.
func number(make func(uint32) Action) actionReader {
	return func(_ *actionParser, it item) (Action, error) {
		value, err := it.argument()
		if err != nil {
			return nil, err
		}
		n, err := value.uint(32)
		return make(uint32(n)), err
	}
}

// argument is the value of "key:value", "key=value" or "key(value)".
func (it item) argument() (text, error) {
	switch {
	case it.value.s == "" || it.delim == 0:
		return text{}, it.all.fault(it.key.s+" needs an argument", "write "+it.key.s+":VALUE")
	case it.rest.s != "":
		return text{}, it.rest.fault("something follows the closing parenthesis", "remove it")
	}
	return it.value, nil
}

// list is what stands between the parentheses of "key(list)".
func (it item) list() (text, error) {
	switch {
	case it.delim == ':' || it.delim == '=':
		return text{}, it.all.fault(it.key.s+" takes its arguments in parentheses", "write "+it.key.s+"("+it.value.s+")")
	case it.rest.s != "":
		return text{}, it.rest.fault("something follows the closing parenthesis", "remove it")
	}
	return it.value, nil
}

// arrow splits "a->b".
func (it item) arrow() (from, to text, err error) {
	value, err := it.argument()
	if err != nil {
		return from, to, err
	}
	from, to, ok := value.cut("->")
	if !ok || from.s == "" || to.s == "" {
		return from, to, it.all.fault("arrow is missing", "write "+it.key.s+":FROM->TO")
	}
	return from, to, nil
}

func (p *actionParser) writeActions(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	actions, err := p.inner(inWriteActions).list(list)
	return WriteActions{actions}, err
}

func (p *actionParser) clone(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	if p.depth >= maxDepth {
		return nil, it.key.fault("nested too deep", fmt.Sprintf("at most %d clones in each other", maxDepth))
	}
	actions, err := p.inner(inClone).list(list)
	return Clone{actions}, err
}
