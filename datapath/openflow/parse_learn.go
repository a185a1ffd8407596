package openflow

import "strings"

// learn reads "learn(table=1,idle_timeout=10,eth_type=0x800,NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],output:NXM_OF_IN_PORT[])".
func (p *actionParser) learn(it item) (Action, error) {
	list, err := it.list()
	if err != nil {
		return nil, err
	}
	r := learnReader{p: p, learn: Learn{Table: 1, Priority: DefaultPriority}, check: newLearnChecker(p.c)}
	err = list.each(r.item)
	return r.learn, err
}

// learnReader reads the arguments and specs of a learn.
type learnReader struct {
	p     *actionParser
	learn Learn
	check *learnChecker
	seen  keys
}

func (r *learnReader) item(it item) error {
	if read, known := learnArguments[it.key.s]; known {
		if err := r.seen.again(it); err != nil {
			return err
		}
		return read(&r.learn, it)
	}
	s, err := r.spec(it)
	if err != nil {
		return err
	}
	if err := r.check.check(s); err != nil {
		invalid := err.(*InvalidError)
		return it.all.fault(invalid.Problem, invalid.Remedy)
	}
	r.learn.Specs = append(r.learn.Specs, s)
	return nil
}

// learnArguments reads the arguments that are no specs.
var learnArguments = map[string]func(*Learn, item) error{
	"send_flow_rem":    func(a *Learn, it item) error { a.SendFlowRem = true; return it.flag() },
	"delete_learned":   func(a *Learn, it item) error { a.DeleteLearned = true; return it.flag() },
	"idle_timeout":     learnUint16(func(a *Learn) *uint16 { return &a.IdleTimeout }),
	"hard_timeout":     learnUint16(func(a *Learn) *uint16 { return &a.HardTimeout }),
	"fin_idle_timeout": learnUint16(func(a *Learn) *uint16 { return &a.FinIdleTimeout }),
	"fin_hard_timeout": learnUint16(func(a *Learn) *uint16 { return &a.FinHardTimeout }),
	"priority":         learnUint16(func(a *Learn) *uint16 { return &a.Priority }),
	"table":            learnValue(func(a *Learn, t text) (err error) { a.Table, err = t.tableID(); return }),
	"cookie":           learnValue(func(a *Learn, t text) (err error) { a.Cookie, err = t.uint(64); return }),
	"result_dst":       learnValue(func(a *Learn, t text) (err error) { a.ResultDst, err = t.subfield(); return }),
	"limit": learnValue(func(a *Learn, t text) error {
		n, err := t.decimal("limit", 32)
		a.Limit = uint32(n)
		return err
	}),
}

func learnValue(read func(*Learn, text) error) func(*Learn, item) error {
	return func(a *Learn, it item) error {
		value, err := it.assigned()
		if err != nil {
			return err
		}
		return read(a, value)
	}
}

func learnUint16(target func(*Learn) *uint16) func(*Learn, item) error {
	return func(a *Learn, it item) error {
		value, err := it.assigned()
		if err != nil {
			return err
		}
		return readDecimal16(value, it.key.s, target(a))
	}
}

func (r *learnReader) spec(it item) (LearnSpec, error) {
	switch {
	case it.key.s == "load":
		return r.load(it)
	case it.key.s == "output":
		value, err := it.argument()
		if err != nil {
			return nil, err
		}
		if isDigits(value.s) {
			return nil, value.fault("learn outputs to a port that a field holds", "write output:NXM_OF_IN_PORT[], or load a register")
		}
		s, err := value.subfield()
		return LearnOutput{s}, err
	case it.key.s == "set_field":
		return nil, it.all.fault("learn has no set_field", "write load:VALUE->FIELD[]")
	case it.delim == 0:
		s, err := it.key.subfield()
		return LearnMatchField{Dst: s, Src: s}, err
	}
	return r.condition(it)
}

// load reads "load:FIELD[]->FIELD[]" and "load:NUMBER->FIELD[]".
func (r *learnReader) load(it item) (LearnSpec, error) {
	from, to, err := it.arrow()
	if err != nil {
		return nil, err
	}
	dst, err := to.subfield()
	if err != nil {
		return nil, err
	}
	if from.s[0] >= '0' && from.s[0] <= '9' {
		v, err := from.integer(int(dst.Width))
		return LearnLoadValue{v, dst}, err
	}
	src, err := from.subfield()
	return LearnLoadField{Src: src, Dst: dst}, err
}

// condition reads "FIELD[]=FIELD[]" and "FIELD=VALUE".
func (r *learnReader) condition(it item) (LearnSpec, error) {
	value, err := it.assigned()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(it.key.s, "vlan_vid") || strings.HasPrefix(it.key.s, "OXM_OF_VLAN_VID") {
		return r.vid(it, value)
	}
	if n, ok := it.key.tosByte(); ok {
		v, _, err := r.p.o.number(n, value)
		return LearnMatchValue{Whole(IPDSCP), v}, err
	}
	dst, err := it.key.subfield()
	if err != nil {
		return nil, err
	}
	name, _, _ := value.cut("[")
	if fieldsNamed(name.s) != nil {
		src, err := value.subfield()
		return LearnMatchField{Dst: dst, Src: src}, err
	}
	return r.constant(dst, value)
}

// tosByte recognises the names of the whole TOS byte.
func (t text) tosByte() (fieldName, bool) {
	names := fieldsNamed(strings.TrimSuffix(t.s, "[]"))
	return fieldName{IPDSCP, true}, len(names) == 1 && names[0].tos
}

// constant reads the value of all of a field as a match does, of a part of it as a number.
func (r *learnReader) constant(dst Subfield, t text) (LearnSpec, error) {
	if !dst.IsWhole() {
		v, err := t.integer(int(dst.Width))
		return LearnMatchValue{dst, v}, err
	}
	f := dst.Field
	v, mask, err := r.p.o.fieldValue(fieldName{field: f}, t)
	if err == nil && (Term{f, v, mask}).canonical().Mask != (Term{f, v, f.Mask()}).canonical().Mask {
		err = t.fault("learn takes no mask", "write FIELD[FIRST..LAST]=VALUE")
	}
	return LearnMatchValue{dst, v}, err
}

// vid reads a condition on all of the VLAN id; its bit 0x1000 says that there is a tag.
func (r *learnReader) vid(it item, t text) (LearnSpec, error) {
	v, err := t.integer(13)
	switch {
	case err != nil || strings.HasSuffix(it.key.s, "]") && !strings.HasSuffix(it.key.s, "[]"):
		return nil, it.all.fault("does not match the tag's presence", "write NXM_OF_VLAN_TCI[0..12]")
	case v.Lo&VLANPresent == 0:
		return nil, t.fault("without bit 0x1000 it would match untagged frames only", string(appendHex([]byte("write vlan_vid="), v.Or(U64(VLANPresent)), 1)))
	}
	return LearnMatchValue{Whole(VLANVID), v.And(Ones(12))}, nil
}
