package simbackend

import (
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// compile works out a list of actions, or says which of them the simulator cannot do.
func compile(actions []openflow.Action) (*code, error) {
	c := &code{actions: actions, ops: make([]op, len(actions))}
	for i, a := range actions {
		o, err := compileAction(a)
		if err != nil {
			return nil, err
		}
		c.ops[i] = o
	}
	return c, nil
}

func unsupported(what fmt.Stringer) error {
	return fmt.Errorf("%v: %w by the simulator", what, datapath.ErrNotSupported)
}

func compileAction(a openflow.Action) (op, error) {
	switch a := a.(type) {
	case openflow.Output:
		return compileOutput(a)
	case openflow.OutputField:
		return op{code: opOutputField, src: flow.NewRef(a.Src)}, nil
	case openflow.Controller:
		return op{code: opController, more: &operand{controller: a}}, nil
	case openflow.Resubmit:
		return op{code: opResubmit, port: uint16(a.InPort), table: a.Table}, nil
	case openflow.GotoTable:
		return op{code: opGoto, table: a.Table}, nil
	case openflow.SetField:
		o := op{code: opSet, store: flow.NewStore(a), header: isHeader(a.Field)}
		if flow.Always(a.Field) {
			o.code = opStore
		}
		return o, nil
	case openflow.Move:
		o := op{code: opMove, src: flow.NewRef(a.Src), dst: flow.NewRef(a.Dst), header: isHeader(a.Dst.Field)}
		if flow.Always(a.Src.Field) && flow.Always(a.Dst.Field) {
			o.code = opCopy
		}
		return o, nil
	case openflow.Push:
		return op{code: opPush, src: flow.NewRef(a.Src)}, nil
	case openflow.Pop:
		return op{code: opPop, dst: flow.NewRef(a.Dst), header: isHeader(a.Dst.Field)}, nil
	case openflow.DecTTL:
		o := op{code: opDecTTL, header: true}
		if len(a.Controllers) > 0 {
			o.more = &operand{ttlTo: a.Controllers}
		}
		return o, nil
	case openflow.Multipath:
		return op{code: opMultipath, dst: flow.NewRef(a.Dst), header: isHeader(a.Dst.Field), more: &operand{multipath: a}}, nil
	case openflow.CT:
		return compileCT(a)
	case openflow.Learn:
		return compileLearn(a)
	}
	return compileRare(a)
}

func compileRare(a openflow.Action) (op, error) {
	switch a := a.(type) {
	case openflow.SetVLANVID:
		return op{code: opSetVLANVID, port: a.VID, header: true}, nil
	case openflow.SetVLANPCP:
		return op{code: opSetVLANPCP, port: uint16(a.PCP), header: true}, nil
	case openflow.PushVLAN:
		return op{code: opPushVLAN, port: a.EthType, header: true}, nil
	case openflow.PopVLAN:
		return op{code: opPopVLAN, header: true}, nil
	case openflow.CTClear:
		return op{code: opCTClear}, nil
	case openflow.WriteMetadata:
		f := openflow.SetField{Field: openflow.Metadata, Value: openflow.U64(a.Value), Mask: openflow.U64(a.Mask)}
		return op{code: opStore, store: flow.NewStore(f)}, nil
	case openflow.WriteActions:
		nested, err := compile(a.Actions)
		return op{code: opWriteActions, more: &operand{nested: nested}}, err
	case openflow.ClearActions:
		return op{code: opClearActions}, nil
	case openflow.Clone:
		nested, err := compile(a.Actions)
		return op{code: opClone, more: &operand{nested: nested}}, err
	case openflow.Note:
		return op{code: opNote}, nil
	case openflow.Exit:
		return op{code: opExit}, nil
	}
	return op{}, unsupported(a)
}

// isHeader reports whether f is written on the frame, so that a change must be carried over.
func isHeader(f openflow.Field) bool {
	switch {
	case f >= openflow.Reg0 && f <= openflow.Reg15, f >= openflow.XReg0:
		return false
	}
	return f != openflow.Metadata && f != openflow.InPort && f != openflow.TunID && f != openflow.PktMark
}

func compileOutput(a openflow.Output) (op, error) {
	if a.Port == openflow.PortNormal || a.Port == openflow.PortTable {
		return op{}, unsupported(a)
	}
	return op{code: opOutput, port: uint16(a.Port)}, nil
}

func compileCT(a openflow.CT) (op, error) {
	c := ctCode{
		request: conntrack.Request{Zone: a.Zone, Commit: a.Commit, Force: a.Force},
		recirc:  a.Recirc, table: a.Table, zone: flow.NewRef(a.ZoneSrc),
	}
	if a.ALG != openflow.ALGNone {
		return op{}, fmt.Errorf("%v: alg: %w by the simulator", a, datapath.ErrNotSupported)
	}
	if a.NAT != nil {
		nat, err := compileNAT(*a.NAT)
		if err != nil {
			return op{}, fmt.Errorf("%v: %w", a, err)
		}
		c.request.NAT = nat
	}
	if err := c.request.Validate(); err != nil {
		return op{}, fmt.Errorf("%v: %w by the simulator: %w", a, datapath.ErrNotSupported, err)
	}
	exec, err := compile(a.Exec)
	if err != nil {
		return op{}, err
	}
	c.exec = exec
	return op{code: opCT, more: &operand{ct: c}}, nil
}

func compileNAT(n openflow.NAT) (conntrack.NAT, error) {
	if n.IPv6 {
		return conntrack.NAT{}, fmt.Errorf("nat to IPv6: %w by the simulator", datapath.ErrNotSupported)
	}
	kinds := map[openflow.NATKind]conntrack.NATKind{
		openflow.NATExisting: conntrack.NATExisting, openflow.NATSrc: conntrack.NATSrc, openflow.NATDst: conntrack.NATDst,
	}
	return conntrack.NAT{
		Kind:    kinds[n.Kind],
		AddrMin: ipv4(n.Addr[0].Lo), AddrMax: ipv4(n.Addr[1].Lo),
		PortMin: n.Port[0], PortMax: n.Port[1],
	}, nil
}

func ipv4(v uint64) [4]byte { return [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} }
