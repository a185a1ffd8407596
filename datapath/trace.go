package datapath

import "hpnn/datapath/openflow"

// Trace is what happened to one frame, pass by pass: the first through table 0, then one for
// each time the connection tracker sent the frame back into the tables. It is not changed once made.
type Trace struct {
	Passes []Pass `json:"passes"`
	// Outputs are the frames that left, in order.
	Outputs []Output `json:"outputs"`

	text string // what String returns, if that is known
}

// WithText is t that is known to print as text, which must be what t.String() returns.
func (t Trace) WithText(text string) Trace {
	t.text = text
	return t
}

// Output is a frame that left on a port.
type Output struct {
	Port  openflow.PortNo `json:"port"`
	Frame []byte          `json:"frame"`
}

// Pass is one walk through the tables.
type Pass struct {
	// Resume says, for a recirculation, what the connection tracker found, such as
	// "ct_state=est|trk,ct_zone=1"; empty for the first pass.
	Resume string `json:"resume,omitempty"`
	// Table is where the pass began.
	Table openflow.TableID `json:"table"`
	// Flow is the frame's fields on entry, FinalFlow those at the end.
	Flow      string `json:"flow"`
	FinalFlow string `json:"final_flow"`
	// Datapath is the list of datapath actions, "drop" if there are none.
	Datapath string `json:"datapath_actions"`
	// Failure is why the switch gave the frame up, such as "Recursion too deep"; usually empty.
	Failure string `json:"failure,omitempty"`
	// Nodes are the steps.
	Nodes Nodes `json:"steps"`
}
