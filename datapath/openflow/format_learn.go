package openflow

func (a Learn) append(b []byte) []byte {
	b = appendUint(b, "learn(table=", a.Table)
	for _, t := range []struct {
		word    string
		seconds uint16
	}{
		{",idle_timeout=", a.IdleTimeout}, {",hard_timeout=", a.HardTimeout},
		{",fin_idle_timeout=", a.FinIdleTimeout}, {",fin_hard_timeout=", a.FinHardTimeout},
	} {
		if t.seconds != 0 {
			b = appendUint(b, t.word, t.seconds)
		}
	}
	b = a.appendOptions(b)
	for _, s := range a.Specs {
		b = s.append(append(b, ','))
	}
	return append(b, ')')
}

func (a Learn) appendOptions(b []byte) []byte {
	if a.Priority != DefaultPriority {
		b = appendUint(b, ",priority=", a.Priority)
	}
	if a.SendFlowRem {
		b = append(b, ",send_flow_rem"...)
	}
	if a.DeleteLearned {
		b = append(b, ",delete_learned"...)
	}
	if a.Cookie != 0 {
		b = appendHex(append(b, ",cookie="...), U64(a.Cookie), 1)
	}
	if a.Limit != 0 {
		b = appendUint(b, ",limit=", a.Limit)
	}
	if a.ResultDst != (Subfield{}) {
		b = a.ResultDst.append(append(b, ",result_dst="...))
	}
	return b
}

// String is the condition as learn shows it, such as "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]".
func (s LearnMatchField) String() string { return string(s.append(nil)) }

func (s LearnMatchField) append(b []byte) []byte {
	b = s.Dst.append(b)
	if s.Src == s.Dst {
		return b
	}
	return s.Src.append(append(b, '='))
}

// String is the condition as learn shows it, such as "eth_type=0x800" or "NXM_NX_REG0[0..3]=0x5".
func (s LearnMatchValue) String() string { return string(s.append(nil)) }

func (s LearnMatchValue) append(b []byte) []byte {
	f := s.Dst.Field
	if !s.Dst.IsWhole() {
		return appendHexValue(append(s.Dst.append(b), '='), s.Value)
	}
	b = append(append(b, f.String()...), '=')
	switch {
	case f == VLANVID:
		return appendUint(b, "", s.Value.Lo|VLANPresent)
	case f == CTState || f == CTZone:
		return appendHexValue(b, s.Value)
	case f.info().style == styleFrag:
		return appendFrag(b, s.Value, f.Mask())
	}
	return f.appendSet(b, s.Value, f.Mask())
}

// String is the action as learn shows it, such as "load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]".
func (s LearnLoadField) String() string { return string(s.append(nil)) }

func (s LearnLoadField) append(b []byte) []byte {
	b = s.Src.append(append(b, "load:"...))
	return s.Dst.append(append(b, "->"...))
}

// String is the action as learn shows it, such as "load:0x5->NXM_NX_REG0[]".
func (s LearnLoadValue) String() string { return string(s.append(nil)) }

func (s LearnLoadValue) append(b []byte) []byte {
	b = appendHexValue(append(b, "load:"...), s.Value)
	return s.Dst.append(append(b, "->"...))
}

// String is the action as learn shows it, such as "output:NXM_OF_IN_PORT[]".
func (s LearnOutput) String() string { return string(s.append(nil)) }

func (s LearnOutput) append(b []byte) []byte { return s.Src.append(append(b, "output:"...)) }
