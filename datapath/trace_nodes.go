package datapath

import (
	"iter"
	"strings"

	"hpnn/datapath/openflow"
)

// Node is one step of a trace.
type Node struct {
	Kind  NodeKind
	Table openflow.TableID // of a lookup
	Depth uint16           // how many it is under
	Text  string
}

// NodeKind says what a Node of a trace is.
type NodeKind uint8

// Possible NodeKind values.
const (
	NodeTable  NodeKind = iota + 1 // a lookup; under it is what the flow did
	NodeBucket                     // a branch, such as the execution of an action set
	NodeAction                     // an action
	NodeNote                       // an action's result, printed " -> "
	NodeWarn                       // printed " >> "
	NodeError                      // printed " >>>> "
)

// IsBranch reports whether other steps may be under it.
func (k NodeKind) IsBranch() bool { return k == NodeTable || k == NodeBucket }

// Nodes are steps in the order in which they were taken. Those under a step follow it, one deeper. In JSON they
// are a tree. The zero Nodes has none.
type Nodes struct {
	text string // of which the texts of all are parts
	cuts []Cut
}

// Cut is a Node whose text is a part of another.
type Cut struct {
	From, To int32
	Kind     NodeKind
	Table    openflow.TableID
	Depth    uint16
}

// CutNodes is nodes whose texts are parts of one. They keep cuts.
func CutNodes(text string, cuts []Cut) Nodes { return Nodes{text, cuts} }

// NodesOf is a list of nodes.
func NodesOf(list ...Node) Nodes {
	var text strings.Builder
	cuts := make([]Cut, len(list))
	for i, n := range list {
		from := int32(text.Len())
		text.WriteString(n.Text)
		cuts[i] = Cut{from, int32(text.Len()), n.Kind, n.Table, n.Depth}
	}
	return Nodes{text.String(), cuts}
}

// Len is how many there are.
func (n Nodes) Len() int { return len(n.cuts) }

// At is node i.
func (n Nodes) At(i int) Node {
	c := &n.cuts[i]
	return Node{Kind: c.Kind, Table: c.Table, Depth: c.Depth, Text: n.text[c.From:c.To]}
}

// All is the nodes and their places.
func (n Nodes) All() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		for i := range n.cuts {
			if !yield(i, n.At(i)) {
				return
			}
		}
	}
}

// List is the nodes one by one.
func (n Nodes) List() []Node {
	list := make([]Node, n.Len())
	for i := range list {
		list[i] = n.At(i)
	}
	return list
}

// Part is the nodes from one on, up to another.
func (n Nodes) Part(from, to int) Nodes { return Nodes{n.text, n.cuts[from:to:to]} }

// Under is the nodes under node i.
func (n Nodes) Under(i int) Nodes {
	end := i + 1
	for end < len(n.cuts) && n.cuts[end].Depth > n.cuts[i].Depth {
		end++
	}
	return n.Part(i+1, end)
}
