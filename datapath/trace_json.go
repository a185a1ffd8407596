package datapath

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"hpnn/datapath/openflow"
)

// kindNames are the words for kinds in JSON.
var kindNames = [...]string{
	NodeTable: "table", NodeBucket: "bucket", NodeAction: "action", NodeNote: "note", NodeWarn: "warn", NodeError: "error",
}

// String is the kind's name, such as "table".
func (k NodeKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("NodeKind(%d)", uint8(k))
}

// MarshalText implements encoding.TextMarshaler.
func (k NodeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *NodeKind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i <= 0 {
		return fmt.Errorf("read kind of step %q: it is unknown: use table, bucket, action, note, warn or error", text)
	}
	*k = NodeKind(i)
	return nil
}

// branch is a Node with all that is under it.
type branch struct {
	Kind     NodeKind         `json:"kind"`
	Text     string           `json:"text"`
	Table    openflow.TableID `json:"table,omitempty"`
	Children []branch         `json:"children,omitempty"`
}

// MarshalJSON implements json.Marshaler. Whether "->" is escaped is for the caller's encoder to say.
func (n Nodes) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(n.tree())
	return b.Bytes(), err
}

func (n Nodes) tree() (list []branch) {
	for i := 0; i < n.Len(); {
		one, under := n.At(i), n.Under(i)
		list = append(list, branch{one.Kind, one.Text, one.Table, under.tree()})
		i += 1 + under.Len()
	}
	return list
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Nodes) UnmarshalJSON(text []byte) error {
	var list []branch
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = NodesOf(flat(nil, list, 0)...)
	return nil
}

func flat(nodes []Node, list []branch, depth uint16) []Node {
	for _, b := range list {
		nodes = append(nodes, Node{Kind: b.Kind, Text: b.Text, Table: b.Table, Depth: depth})
		nodes = flat(nodes, b.Children, depth+1)
	}
	return nodes
}
