package simbackend

import (
	"fmt"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// learned notes the flow that a learn() makes, whether it may or not.
func (t *tracer) learned(c *learnCode, k *flow.Key) {
	f := c.flow(k)
	words := []string{fmt.Sprintf("table=%d", f.Table)}
	if m := f.Match.String(); m != "" {
		words = append(words, m)
	}
	words = append(words, fmt.Sprintf("priority=%d", f.Priority))
	if f.Cookie != 0 {
		words = append(words, fmt.Sprintf("cookie=%#x", f.Cookie))
	}
	if f.IdleTimeout != 0 {
		words = append(words, fmt.Sprintf("idle=%d", f.IdleTimeout))
	}
	if f.HardTimeout != 0 {
		words = append(words, fmt.Sprintf("hard=%d", f.HardTimeout))
	}
	t.note(strings.Join(append(words, "actions="+c.actionsText(k)), " "))
}

// actionsText is the learned actions as ofproto/trace shows them: loads stay loads.
func (c *learnCode) actionsText(k *flow.Key) string {
	var texts []string
	for _, s := range c.action.Specs {
		switch s := s.(type) {
		case openflow.LearnLoadField:
			texts = appendLoads(texts, k.GetSub(s.Src), s.Dst)
		case openflow.LearnLoadValue:
			texts = appendLoads(texts, s.Value, s.Dst)
		case openflow.LearnOutput:
			if a := learnedAction(s, k); a != nil {
				texts = append(texts, a.String())
			}
		}
	}
	if texts == nil {
		return "drop"
	}
	return strings.Join(texts, ",")
}

// appendLoads adds the load of a value. One load writes 64 bits at most.
func appendLoads(texts []string, v openflow.Value, dst openflow.Subfield) []string {
	const most = 64
	for done := 0; done < int(dst.Width); done += most {
		part := openflow.Subfield{Field: dst.Field, Offset: dst.Offset + uint8(done), Width: uint8(min(most, int(dst.Width)-done))}
		texts = append(texts, fmt.Sprintf("load:%v->%v", v.Shr(done).And(openflow.Ones(int(part.Width))), part))
	}
	return texts
}
