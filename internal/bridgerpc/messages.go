package bridgerpc

import (
	"encoding/binary"
	"fmt"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// Paths of the calls.
const (
	commitPath      = "/commit"
	flowsPath       = "/flows"
	portsPath       = "/ports"
	tracePath       = "/trace"
	packetOutPath   = "/packet-out"
	connectionsPath = "/connections"
	flushPath       = "/flush"
	eventsPath      = "/events"
)

// answer is what a call has led to: one of both.
type answer[T any] struct {
	Fault  *fault `json:"fault,omitempty"`
	Result T      `json:"result"`
}

// nothing is the argument or the result of a call that has none.
type nothing struct{}

// flowEntry is an openflow.FlowEntry on its way.
type flowEntry struct {
	Flow  string         `json:"flow"`
	Stats openflow.Stats `json:"stats"`
}

func entryText(e openflow.FlowEntry) flowEntry { return flowEntry{e.Flow.String(), e.Stats} }

func (e flowEntry) parse() (openflow.FlowEntry, error) {
	f, err := openflow.ParseFlow(e.Flow)
	if err != nil {
		return openflow.FlowEntry{}, fmt.Errorf("read flow %q: %w", e.Flow, err)
	}
	return openflow.FlowEntry{Flow: f, Stats: e.Stats}, nil
}

// modTexts is a bundle on its way.
func modTexts(b openflow.Bundle) []string {
	lines := make([]string, len(b))
	for i, m := range b {
		lines[i] = m.String()
	}
	return lines
}

// parseMods reads a bundle. What cannot be read is refused like what a switch does not want.
func parseMods(lines []string) (openflow.Bundle, error) {
	b := make(openflow.Bundle, len(lines))
	for i, line := range lines {
		m, err := openflow.ParseFlowMod(line)
		if err != nil {
			return nil, &datapath.CommitError{Index: i, Err: err}
		}
		b[i] = m
	}
	return b, nil
}

// packetOut is a frame and what is to be done with it.
type packetOut struct {
	In      datapath.Injection
	Actions string
}

func (p packetOut) actions() ([]openflow.Action, error) {
	return openflow.ParseActions(p.Actions, kind(p.In.Frame))
}

// kind is a match for frames with the same headers: actions ask whether a frame has what they change.
func kind(frame []byte) (m openflow.Match) {
	const ethType, ipProto = 12, 23
	if len(frame) < ethType+2 {
		return m
	}
	t := binary.BigEndian.Uint16(frame[ethType:])
	m = m.With(openflow.EthType, openflow.U64(uint64(t)))
	if t == openflow.EthTypeIPv4 && len(frame) > ipProto {
		m = m.With(openflow.IPProto, openflow.U64(uint64(frame[ipProto])))
	}
	return m
}
