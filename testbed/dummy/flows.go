package dummy

import (
	"context"
	"errors"
	"strings"
)

// ReplaceFlows deletes all flows and adds those of text, in one transaction: all or nothing. Text holds one flow a
// line as ovs-ofctl(8) add-flows reads it; blank lines and comments (#) are skipped. A line may also begin with
// "flow " or "group " and is then taken as Bundle takes it. Flows that stay the same begin anew: their counters are 0.
// Groups are kept. What OVS does not accept is a RefusedError.
func (s *Switch) ReplaceFlows(ctx context.Context, text string) error {
	return s.do(ctx, "replace flows", func(ctx context.Context) error {
		return s.bundle(ctx, replacement(text))
	})
}

// Bundle commits text as one OpenFlow 1.5 bundle, all or nothing. Each line is "flow [add|modify|modify_strict|delete|
// delete_strict] FLOW", "group [add|modify|delete|…] GROUP" or "packet-out in_port=P,packet=HEX,actions=A".
func (s *Switch) Bundle(ctx context.Context, text string) error {
	return s.do(ctx, "commit bundle", func(ctx context.Context) error {
		return s.bundle(ctx, text)
	})
}

// DumpFlows returns what "ovs-ofctl -O OpenFlow15 --no-names dump-flows br0" prints: every flow with its statistics, in no
// particular order. Appctl(ctx, "bridge/dump-flows", Local) is some fifty times cheaper and tells counters, but neither
// cookies nor timeouts.
func (s *Switch) DumpFlows(ctx context.Context) (string, error) {
	var text string
	err := s.do(ctx, "dump flows", func(ctx context.Context) (err error) {
		text, err = s.ofctl(ctx, "", "--no-names", "dump-flows", s.bridgeAddress())
		return err
	})
	return text, err
}

func (s *Switch) bridgeAddress() string { return "unix:" + s.path(Local+".mgmt") }

// bundle commits text. Unless told --no-names, ovs-ofctl first fetches a megabyte of table features to know the names
// of tables, which takes longer than all the rest. So names are looked up only in what is refused without them; a
// refused bundle has changed nothing and may be sent again.
func (s *Switch) bundle(ctx context.Context, text string) error {
	var refused *RefusedError
	_, err := s.ofctl(ctx, text, "--no-names", "bundle", s.bridgeAddress(), "-")
	if errors.As(err, &refused) && !refused.Disconnected() {
		_, err = s.ofctl(ctx, text, "--names", "bundle", s.bridgeAddress(), "-")
	}
	return err
}

// replacement turns a flow file into the bundle that makes it the whole content of the tables.
func replacement(text string) string {
	var b strings.Builder
	b.WriteString("flow delete\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "flow "), strings.HasPrefix(line, "group "):
		default:
			b.WriteString("flow ")
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}
