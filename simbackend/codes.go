package simbackend

import "hpnn/datapath/openflow"

// codes is the actions of a bundle worked out: many of its flows do the same, and may share what they
// do.
type codes struct {
	byList    map[*openflow.Action]readied // by the first action of a list that flows have in common
	byContent map[codeKey]*code
}

// readied is a flow that passed its checks, and what it does.
type readied struct {
	flow *openflow.Flow
	code *code
}

// mostLists bounds the room that is taken for lists that may be of one flow only.
const mostLists = 256

func newCodes() codes {
	return codes{byList: map[*openflow.Action]readied{}, byContent: map[codeKey]*code{}}
}

// ready checks a flow and works out its actions.
func (all *codes) ready(f *openflow.Flow) (*code, error) {
	if len(f.Actions) == 0 {
		return all.compiled(f, f.Validate())
	}
	known, ok := all.byList[&f.Actions[0]]
	if ok && len(known.flow.Actions) == len(f.Actions) {
		return known.code, f.ValidateLike(known.flow)
	}
	c, err := all.compiled(f, f.Validate())
	if err == nil && len(all.byList) < mostLists {
		all.byList[&f.Actions[0]] = readied{f, c}
	}
	return c, err
}

// compiled works out the actions of a flow unless it is invalid.
func (all *codes) compiled(f *openflow.Flow, invalid error) (*code, error) {
	if invalid != nil {
		return nil, invalid
	}
	key, ok := keyOf(f.Actions)
	if !ok {
		return compile(f.Actions)
	}
	if c := all.byContent[key]; c != nil {
		return c, nil
	}
	c, err := compile(f.Actions)
	if err == nil && len(all.byContent) < mostLists {
		all.byContent[key] = c
	}
	return c, err
}

// codeKey is a list of at most four actions, each as something that can be compared.
type codeKey [4]any

// plainTTL stands for a dec_ttl without arguments.
type plainTTL struct{}

// keyOf is the key of a list; ok is false if it is too long or has an action that holds a list.
func keyOf(actions []openflow.Action) (key codeKey, ok bool) {
	if len(actions) > len(key) {
		return key, false
	}
	for i, a := range actions {
		switch a := a.(type) {
		case openflow.Output, openflow.SetField, openflow.GotoTable, openflow.Move, openflow.Resubmit, openflow.OutputField:
			key[i] = a
		case openflow.DecTTL:
			if a.Controllers != nil {
				return key, false
			}
			key[i] = plainTTL{}
		default:
			return key, false
		}
	}
	return key, true
}
