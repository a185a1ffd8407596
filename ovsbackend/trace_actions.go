package ovsbackend

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nesting are the datapath actions that hold lists of actions.
var nesting = []string{"clone", "actions", "gt", "le"}

// portable is datapath actions with what only this datapath knows replaced: port numbers by OpenFlow's,
// and ids of recirculations by the tables where they resume.
func (w *walk) portable(actions string, calls []ctCall) string {
	for _, c := range calls {
		actions = strings.ReplaceAll(actions, fmt.Sprintf("recirc(%#x)", c.recirc), fmt.Sprintf("recirc(table %d)", c.table))
	}
	return w.ofPorts(actions)
}

// ofPorts replaces the port numbers in a list of datapath actions. A list that cannot be read stays.
func (w *walk) ofPorts(actions string) string {
	words, err := splitOutside(actions)
	if err != nil {
		return actions
	}
	for i, word := range words {
		if n, err := strconv.Atoi(word); err == nil {
			if p, ok := w.layout.ports[n]; ok {
				words[i] = fmt.Sprintf("%d", p)
			}
			continue
		}
		words[i] = w.insideOf(word)
	}
	return strings.Join(words, ",")
}

// insideOf replaces the port numbers in the lists that an action holds.
func (w *walk) insideOf(action string) string {
	name, rest, ok := strings.Cut(action, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return action
	}
	if slices.Contains(nesting, name) {
		return name + "(" + w.ofPorts(inner) + ")"
	}
	words, err := splitOutside(inner)
	if err != nil {
		return action
	}
	for i, word := range words {
		words[i] = w.insideOf(word)
	}
	return name + "(" + strings.Join(words, ",") + ")"
}
