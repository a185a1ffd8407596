package dummy

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"

	"hpnn/internal/ovsproto"
)

// Encoded is a list of changes in the form that goes over the wire, ready for Apply.
type Encoded struct{ messages [][]byte }

// Changes are the changes as ovs-ofctl encoded them: each a whole message with its header.
func (e Encoded) Changes() [][]byte { return e.messages }

// Encode has ovs-ofctl encode bundles, each a text as Bundle takes it. One process serves all texts, which is why many
// small bundles are applied many times faster by Encode and Apply than by Bundle. If one text is not accepted, all are
// refused. Names of tables are not known.
func (s *Switch) Encode(ctx context.Context, texts ...string) ([]Encoded, error) {
	var encoded []Encoded
	err := s.do(ctx, "encode bundles", func(ctx context.Context) error {
		var all strings.Builder
		for _, t := range texts {
			all.WriteString(t)
			all.WriteByte('\n')
		}
		messages, err := s.record(ctx, all.String())
		if err != nil {
			return err
		}
		encoded, err = divide(messages, texts)
		return err
	})
	return encoded, err
}

// divide deals the messages out to the texts that they are the encoding of.
func divide(messages [][]byte, texts []string) ([]Encoded, error) {
	encoded := make([]Encoded, len(texts))
	for i, t := range texts {
		n := changes(t)
		if n > len(messages) {
			return nil, fmt.Errorf("ovs-ofctl sent fewer messages than there are changes")
		}
		encoded[i].messages, messages = messages[:n:n], messages[n:]
	}
	if len(messages) > 0 {
		return nil, fmt.Errorf("ovs-ofctl sent %d messages more than there are changes", len(messages))
	}
	return encoded, nil
}

// changes counts the lines of a bundle that ovs-ofctl makes a message of.
func changes(text string) (n int) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// record lets ovs-ofctl commit a bundle to a switch that only takes notes, and returns the changes noted.
func (s *Switch) record(ctx context.Context, text string) ([][]byte, error) {
	path := s.path("recorder.sock")
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	noted := make(chan [][]byte, 1)
	go func() {
		defer close(noted)
		if conn, err := listener.Accept(); err == nil {
			noted <- takeNotes(ctx, conn)
		}
	}()
	if _, err := s.ofctl(ctx, text, "--no-names", "bundle", "unix:"+path, "-"); err != nil {
		return nil, err
	}
	return <-noted, nil
}

// takeNotes plays a switch that agrees to everything, until the other side hangs up.
func takeNotes(ctx context.Context, conn net.Conn) (changes [][]byte) {
	o, err := ovsproto.NewConn(ctx, conn)
	if err != nil {
		return nil
	}
	defer o.Close()
	for {
		m, err := o.Next(ctx)
		if err != nil {
			return changes
		}
		switch m.Type {
		case ovsproto.BundleAdd:
			changes = append(changes, m.Body[bundleAddHeader:])
		case ovsproto.BundleControl:
			binary.BigEndian.PutUint16(m.Body[4:], binary.BigEndian.Uint16(m.Body[4:])+1) // the reply to a request is the next number
			err = o.Send(ctx, m)
		case ovsproto.BarrierRequest:
			err = o.Send(ctx, ovsproto.Message{Type: ovsproto.BarrierReply, XID: m.XID})
		}
		if err != nil {
			return changes
		}
	}
}

const (
	bundleAddHeader = 8 // bytes before the message: bundle, padding, flags
	bundleFlags     = 3 // OFPBF_ATOMIC, OFPBF_ORDERED
	bundleOpen      = 0 // OFPBCT_OPEN_REQUEST
	bundleCommit    = 4 // OFPBCT_COMMIT_REQUEST
)

// Apply commits an encoded bundle, all or nothing. What the bridge does not accept is a RefusedError.
func (s *Switch) Apply(ctx context.Context, e Encoded) error {
	return s.do(ctx, "apply bundle", func(ctx context.Context) error {
		return s.ask(ctx, func(o *openflow) error { return o.bundle(ctx, e.messages) })
	})
}

// bundle opens, fills and commits a bundle without waiting in between. The barrier behind it tells that the commit has
// taken place; an error for any message makes the bridge refuse the commit.
func (o *openflow) bundle(ctx context.Context, changes [][]byte) error {
	o.bundles++
	control := func(kind byte) ovsproto.Message {
		return ovsproto.Message{Type: ovsproto.BundleControl, Body: append(binary.BigEndian.AppendUint32(nil, o.bundles), 0, kind, 0, bundleFlags)}
	}
	out := []ovsproto.Message{control(bundleOpen)}
	for _, c := range changes {
		header := append(binary.BigEndian.AppendUint32(nil, o.bundles), 0, 0, 0, bundleFlags)
		inner := append([]byte(nil), c...)
		clear(inner[4:8]) // the transaction ids of both messages must agree
		out = append(out, ovsproto.Message{Type: ovsproto.BundleAdd, Body: append(header, inner...)})
	}
	return o.Barrier(ctx, append(out, control(bundleCommit))...)
}

// Dump is an undecoded flow dump.
type Dump struct{ messages [][]byte }

// RawFlows is DumpFlows without the decoding, which Decode does for many dumps at once.
func (s *Switch) RawFlows(ctx context.Context) (Dump, error) {
	var d Dump
	err := s.do(ctx, "dump flows", func(ctx context.Context) error {
		return s.ask(ctx, func(o *openflow) (err error) {
			d.messages, err = o.flows(ctx)
			return err
		})
	})
	return d, err
}

// flows asks for all flows and returns the replies, which may be several.
func (o *openflow) flows(ctx context.Context) (replies [][]byte, err error) {
	request := []byte{0xff, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0} // all tables, ports, groups
	request = append(request, make([]byte, 16)...)                                               // cookie, mask
	request = append(request, 0, 1, 0, 4, 0, 0, 0, 0)                                            // empty OXM match
	return o.Multipart(ctx, ovsproto.FlowDesc, request)
}

// Decode has ovs-ofctl print dumps: each as DumpFlows would have printed it, without the line before the flows.
func (s *Switch) Decode(ctx context.Context, dumps ...Dump) ([]string, error) {
	var texts []string
	err := s.do(ctx, "decode dumps", func(ctx context.Context) error {
		var all []byte
		for i, d := range dumps {
			for _, body := range d.messages {
				all = append(all, flowDescReply(uint32(i), body).Bytes()...)
			}
		}
		path := s.path("dumps.of")
		if err := os.WriteFile(path, all, 0o600); err != nil {
			return err
		}
		printed, err := s.ofctl(ctx, "", "ofp-parse", path)
		if err != nil {
			return err
		}
		texts, err = sortOut(printed, len(dumps))
		return err
	})
	return texts, err
}

// flowDescReply is a message that ovs-ofctl prints as a dump of flows.
func flowDescReply(xid uint32, body []byte) ovsproto.Message {
	return ovsproto.Message{Type: ovsproto.MultipartReply, XID: xid, Body: append([]byte{0, byte(ovsproto.FlowDesc), 0, 0, 0, 0, 0, 0}, body...)}
}

// sortOut gathers the flow lines by the transaction id in the line that heads them.
func sortOut(printed string, dumps int) ([]string, error) {
	texts := make([]strings.Builder, dumps)
	current := -1
	for line := range strings.Lines(printed) {
		if strings.HasPrefix(line, " ") {
			if current < 0 {
				return nil, fmt.Errorf("ovs-ofctl printed a flow before any heading: %q", line)
			}
			texts[current].WriteString(line)
			continue
		}
		_, id, ok := strings.Cut(line, "(xid=")
		if _, err := fmt.Sscanf(id, "%v):", &current); !ok || err != nil || current >= dumps {
			return nil, fmt.Errorf("ovs-ofctl printed %q, not the heading of a dump", line)
		}
	}
	out := make([]string, dumps)
	for i := range texts {
		out[i] = texts[i].String()
	}
	return out, nil
}
