package scenarios

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/packet"
	"hpnn/model"
)

// stand is the reference stand with member be1 down.
func stand(t *testing.T) *rules {
	topology, err := model.Load(filepath.Join("..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	r := &rules{}
	r.begin(topology)
	view := control.View{Pools: []control.PoolView{{Name: "web", ID: 1}}}
	for _, m := range topology.Pools[0].Members {
		up := m.Name != "be1"
		view.Pools[0].Members = append(view.Pools[0].Members, control.MemberView{Name: m.Name, Admin: "enabled", Up: up, InPool: up})
	}
	r.committed(topology, view)
	return r
}

func segment(src, dst string, flags packet.Flags, ttl uint8) packet.TCP {
	from, to := netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)
	return packet.TCP{IP: packet.IP{Src: from.Addr(), Dst: to.Addr(), TTL: ttl}, SrcPort: from.Port(), DstPort: to.Port(), Flags: flags}
}

// spoil changes a byte of a frame.
func spoil(frame []byte, at int) []byte {
	frame = slices.Clone(frame)
	frame[at] ^= 0xff
	return frame
}

const (
	client = "192.168.5.13:40000"
	vip    = "192.168.5.21:80"
	dead   = "10.20.0.2:8080"
	alive  = "10.30.0.2:8080"
)

func TestRulesOfFrames(t *testing.T) {
	const syn, synAck = packet.SYN, packet.SYN | packet.ACK
	call := segment(client, vip, syn, 64).Bytes()
	delivered := segment(client, alive, syn, 63).Bytes()
	type step struct{ in, out []byte }
	tests := []struct {
		name  string
		steps []step
		want  Rule
	}{
		{"a call is translated and routed", []step{{call, delivered}}, ""},
		{"a call is translated and switched", []step{{call, segment(client, alive, syn, 64).Bytes()}}, ""},
		{"a call goes to a dead member", []step{{call, segment(client, dead, syn, 63).Bytes()}}, Living},
		{"a dead member is called directly", []step{{segment(client, dead, syn, 64).Bytes(), segment(client, dead, syn, 63).Bytes()}}, ""},
		{"a checksum is broken", []step{{call, spoil(delivered, 50)}}, Checksums},
		{"a checksum was broken before", []step{{spoil(call, 50), spoil(delivered, 50)}}, ""},
		{"the node sends a broken checksum", []step{{nil, spoil(delivered, 50)}}, Checksums},
		{"two hops", []step{{call, segment(client, alive, syn, 62).Bytes()}}, OneHop},
		{"the last hop", []step{{spoil(segment(client, vip, syn, 1).Bytes(), 50), spoil(segment(client, alive, syn, 255).Bytes(), 22)}}, OneHop},
		{"a call leaves as it came", []step{{call, call}}, Translated},
		{"the answer is the VIP's", []step{{call, delivered}, {segment(alive, client, synAck, 64).Bytes(), segment(vip, client, synAck, 63).Bytes()}}, ""},
		{"the answer is the member's", []step{{call, delivered}, {segment(alive, client, synAck, 64).Bytes(), segment(alive, client, synAck, 63).Bytes()}}, Disguised},
		{"the answer to a direct call is the member's", []step{
			{call, delivered},
			{segment(client, alive, syn, 64).Bytes(), segment(client, alive, syn, 63).Bytes()},
			{segment(alive, client, synAck, 64).Bytes(), segment(alive, client, synAck, 63).Bytes()},
		}, ""},
		{"the VIP is called after the member", []step{
			{segment(client, alive, syn, 64).Bytes(), segment(client, alive, syn, 63).Bytes()},
			{call, delivered},
			{segment(alive, client, synAck, 64).Bytes(), segment(alive, client, synAck, 63).Bytes()},
		}, Disguised},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := stand(t)
			for i, s := range test.steps {
				require.Nil(t, r.broken, "step %d", i)
				r.frame(datapath.Injection{InPort: 1, Frame: s.in}, []datapath.Output{{Port: 20, Frame: s.out}})
			}
			if test.want == "" {
				require.Nil(t, r.broken)
				return
			}
			require.NotNil(t, r.broken)
			require.Equal(t, test.want, r.broken.rule, r.broken.detail)
		})
	}
}

func TestRulesIgnoreFramesWhileFlowsOfOthersAreThere(t *testing.T) {
	r := stand(t)
	r.damaged = true
	call := segment(client, vip, packet.SYN, 64).Bytes()
	r.frame(datapath.Injection{Frame: call}, []datapath.Output{{Frame: call}})
	require.Nil(t, r.broken)
}

// tellTo tells a story whose command "meddle" does something that no command may.
func tellTo(t *testing.T, text string, meddle func(*story)) error {
	script, err := Parse(filepath.Join("testdata", "inline.txt"), text)
	require.NoError(t, err)
	s := newStory(Config{Bed: "sim"}, script.Path)
	calls, err := script.prepare()
	require.NoError(t, err)
	for _, block := range calls {
		for _, c := range block {
			if c.command.name == "reapply" { // stands for it
				c.command.run = func(s *story, _ *args) error {
					meddle(s)
					return nil
				}
			}
			if err := s.step(c); err != nil {
				return err
			}
		}
	}
	return nil
}

const meddling = "topology ../../examples/hpnn.yaml\nuntil all up within 4s\nreapply\n"

func TestViolationNamesStepAndRule(t *testing.T) {
	err := tellTo(t, meddling, func(s *story) {
		bundle := openflow.Bundle{{Flow: openflow.Flow{Table: 0, Priority: 65000}}}
		require.NoError(t, s.bed.Switch().Bridge().Commit(context.Background(), bundle))
	})
	var violation *ViolationError
	require.ErrorAs(t, err, &violation)
	require.Equal(t, InStep, violation.Rule)
	require.EqualError(t, err, `testdata/inline.txt:3: reapply: rule "in step" is broken: the switch holds table=0, priority=65000 actions=drop`)
}

func TestViolationNamesTheFrame(t *testing.T) {
	err := tellTo(t, "topology ../../examples/hpnn.yaml\nuntil all up within 4s\nping client 192.168.5.21\nreapply\nget client http://192.168.5.21/\n", func(s *story) {
		// The node itself would have to be wrong for this: its flows are changed and its eyes shut.
		m := openflow.FlowMod{Flow: openflow.Flow{Table: 0, Priority: 65000, Actions: []openflow.Action{openflow.Output{Port: 12}}}}
		require.NoError(t, s.bed.Switch().Bridge().Commit(context.Background(), openflow.Bundle{m}))
		s.disturb()
	})
	var violation *ViolationError
	require.ErrorAs(t, err, &violation)
	require.Equal(t, Translated, violation.Rule)
	require.Contains(t, err.Error(), "inline.txt:5: get client")
	require.Contains(t, err.Error(), "192.168.5.13:40000 > 192.168.5.21:80 [S] ")
	require.Contains(t, err.Error(), "left on port 12")
}

func TestUnlike(t *testing.T) {
	flow := func(priority uint16, actions ...openflow.Action) openflow.Flow {
		return openflow.Flow{Table: 1, Priority: priority, Actions: actions}
	}
	want, err := openflow.NewProgram(flow(5), flow(3), flow(1))
	require.NoError(t, err)
	learned := openflow.Flow{Table: 1, Priority: 4, Cookie: 0xfdb << 32}
	for _, test := range []struct {
		name string
		have []openflow.Flow
		want string
	}{
		{"same", []openflow.Flow{flow(5), flow(3), flow(1)}, ""},
		{"learned", []openflow.Flow{flow(5), learned, flow(3), flow(1)}, ""},
		{"first is missing", []openflow.Flow{flow(3), flow(1)}, "the switch lacks table=1, priority=5 actions=drop"},
		{"last is missing", []openflow.Flow{flow(5), flow(3)}, "the switch lacks table=1, priority=1 actions=drop"},
		{"none", nil, "the switch lacks table=1, priority=5 actions=drop"},
		{"another", []openflow.Flow{flow(5), flow(4), flow(3), flow(1)}, "the switch holds table=1, priority=4 actions=drop"},
		{"one more", []openflow.Flow{flow(5), flow(3), flow(1), flow(0)}, "the switch holds table=1, priority=0 actions=drop"},
		{"changed", []openflow.Flow{flow(5), flow(3, openflow.GotoTable{Table: 2}), flow(1)}, "the switch lacks table=1, priority=3 actions=drop"},
	} {
		require.Equal(t, test.want, unlike(test.have, want), test.name)
	}
}
