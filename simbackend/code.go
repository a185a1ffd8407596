package simbackend

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// code is a list of actions worked out for execution. ops[i] is actions[i].
type code struct {
	ops     []op
	actions []openflow.Action
	texts   []actionText // once a trace has asked for them
}

// reversible reports whether rewriting the frame again undoes all that the actions do to it. A
// clone among them sees to itself.
func (c *code) reversible() bool {
	return !slices.ContainsFunc(c.ops, func(o op) bool { return o.code == opCT })
}

// opcode says what an op does.
type opcode uint8

const (
	opOutput opcode = iota
	opOutputField
	opController
	opResubmit
	opGoto
	opSet   // a field that the frame may lack
	opStore // a field that every frame has
	opMove  // the same of moves
	opCopy
	opPush
	opPop
	opSetVLANVID
	opSetVLANPCP
	opPushVLAN
	opPopVLAN
	opDecTTL
	opMultipath
	opCT
	opCTClear
	opLearn
	opWriteActions
	opClearActions
	opClone
	opNote
	opExit
)

// op is one action in a flat form: no interface is called and nothing is parsed when a
// frame meets it. Which members mean something depends on the code.
type op struct {
	code     opcode
	table    openflow.TableID
	header   bool   // the op may change a header field, not just a register
	port     uint16 // port, VLAN id or priority, TPID
	src, dst flow.Ref
	store    flow.Store
	more     *operand
}

// operand is what only the rarer ops need.
type operand struct {
	controller openflow.Controller
	ttlTo      []uint16 // controller ids of dec_ttl
	multipath  openflow.Multipath
	ct         ctCode
	learn      learnCode
	nested     *code // of clone and write_actions
}

// ctCode is a ct() action. The exec list is kept apart, for its moves depend on the frame.
type ctCode struct {
	request conntrack.Request
	recirc  bool
	table   openflow.TableID
	zone    flow.Ref // or none
	exec    *code
}
