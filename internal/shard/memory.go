package shard

import (
	"fmt"
	"iter"

	"hpnn/datapath/openflow"
)

// track is a ct(): one end must be the frame's key, the other a name.
func (w *walk) track(s *state, a openflow.CT, rule *openflow.Flow) error {
	if s.ipv4 {
		w.tracks, w.touches = true, true
		if err := w.tracked(s, a.NAT); err != nil {
			return refusal{fmt.Errorf("%v: %w", *rule, err)}
		}
	}
	if a.Recirc {
		return w.enter(*s, a.Table)
	}
	return nil
}

func (w *walk) tracked(s *state, nat *openflow.NAT) error {
	if w.foreign {
		return nil // refused if anything is touched
	}
	if !w.tells(s.src.kind, s.dst.kind) {
		return fmt.Errorf("it may track a connection between addresses that are not of the program")
	}
	if nat == nil {
		return nil
	}
	moved := map[openflow.NATKind]kind{openflow.NATSrc: s.src.kind, openflow.NATDst: s.dst.kind, openflow.NATExisting: name}
	if moved[nat.Kind] != name {
		return fmt.Errorf("it translates addresses that are not of the program")
	}
	if nat.IPv6 || nat.Addr[0] != nat.Addr[1] {
		return fmt.Errorf("it translates to more than one address")
	}
	for _, v := range []*value{&s.src, &s.dst} {
		if v.kind == name { // another, if the connection was translated, now or earlier
			v.set = w.all
		}
	}
	return nil
}

// tells reports whether two ends have the frame's key: one is it and the other a name, or both are names
// if it has none.
func (w *walk) tells(src, dst kind) bool {
	if w.keyed {
		return src == key && dst == name || src == name && dst == key
	}
	return src == name && dst == name
}

// learn is a learn(): the flow must be about the frame's key, and do nothing but send frames out.
func (w *walk) learn(s *state, a openflow.Learn, rule *openflow.Flow) error {
	w.touches = true
	if w.foreign {
		return nil
	}
	about := false // and of IPv4 then, without which no flow can match an address of it
	for _, spec := range a.Specs {
		switch spec := spec.(type) {
		case openflow.LearnMatchField:
			about = about || s.ipv4 && isAddress(spec.Dst.Field) && spec.Dst.IsWhole() && spec.Src.IsWhole() &&
				(spec.Src.Field == openflow.IPSrc && s.src.kind == key || spec.Src.Field == openflow.IPDst && s.dst.kind == key)
		case openflow.LearnLoadField:
			if !harmless(spec.Dst.Field) {
				return refusal{fmt.Errorf("%v: what it learns changes more than MAC addresses", *rule)}
			}
		case openflow.LearnLoadValue:
			if !harmless(spec.Dst.Field) {
				return refusal{fmt.Errorf("%v: what it learns changes more than MAC addresses", *rule)}
			}
		}
	}
	if !about {
		return refusal{fmt.Errorf("%v: what it learns from a frame may matter to frames of other addresses", *rule)}
	}
	s.forget(a.ResultDst.Field)
	return nil
}

// harmless reports whether the walk need not know what is written to a field.
func harmless(f openflow.Field) bool { return f == openflow.EthSrc || f == openflow.EthDst }

// taught yields the tables that actions learn flows into.
func taught(actions []openflow.Action) iter.Seq[openflow.TableID] {
	return func(yield func(openflow.TableID) bool) {
		for a := range deep(actions) {
			if l, ok := a.(openflow.Learn); ok && !yield(l.Table) {
				return
			}
		}
	}
}

// deep yields actions and those inside them.
func deep(actions []openflow.Action) iter.Seq[openflow.Action] {
	return func(yield func(openflow.Action) bool) {
		for _, a := range actions {
			var inner []openflow.Action
			switch a := a.(type) {
			case openflow.Clone:
				inner = a.Actions
			case openflow.WriteActions:
				inner = a.Actions
			}
			if !yield(a) {
				return
			}
			for b := range deep(inner) {
				if !yield(b) {
					return
				}
			}
		}
	}
}
