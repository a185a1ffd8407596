package pipeline

import (
	of "hpnn/datapath/openflow"
	"hpnn/model"
)

// Render returns the program that makes a switch the node of a topology, its slots owned as layouts say. A pool without a
// layout has no slots: its listeners drop.
//
// The topology must be valid ([model.Validate]). The result depends on nothing but the arguments.
func Render(t model.Topology, layouts Layouts) of.Program {
	n := survey(t, layouts)
	var flows []of.Flow
	for _, s := range stages() {
		w := writer{table: s.ID, flows: flows}
		s.render(n, &w)
		w.add(0, always, s.Miss.actions()...)
		flows = w.flows
	}
	program, err := of.NewProgram(flows...)
	if err != nil {
		panic("pipeline: render: " + err.Error())
	}
	return program
}
