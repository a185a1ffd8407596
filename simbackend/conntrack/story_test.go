package conntrack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/simbackend/conntrack"
)

// Stories say in words of the wire what the tracker must do. Each runs on the tracker,
// and on a real OVS as well where there is one: an expectation that OVS does not share
// fails at the next settle.

// story is a rig with expectations.
type story struct{ *rig }

func newStory(t *testing.T, scripts ...script) story {
	s := story{newRig(t, realSwitch(t), scripts...)}
	s.title = t.Name()
	t.Cleanup(func() {
		if !t.Failed() {
			s.finish()
		}
	})
	return s
}

// with is the story for a case of its own, on empty tables.
func (s story) with(t *testing.T) story {
	t.Helper()
	parent := s.t
	s.t, s.title = t, t.Name()
	s.forget()
	t.Cleanup(func() {
		if !t.Failed() {
			s.finish()
		}
		s.t = parent
	})
	return s
}

type framer interface{ frame() []byte }

type raw []byte

func (r raw) frame() []byte { return r }

// expect sends a frame through script k and wants it to come out with this state.
func (s story) expect(state string, k int, f framer) *conntrack.Packet {
	s.t.Helper()
	out := s.send(k, f.frame())
	require.Len(s.t, out, 1, "packets behind script %d %v", k, s.scripts[k])
	require.Equal(s.t, state, out[0].Meta.State.String(), "script %d %v\n%s", k, s.scripts[k], s.story())
	return out[0]
}

// expectFlow wants addresses and ports besides.
func (s story) expectFlow(state string, want flow, k int, f framer) *conntrack.Packet {
	s.t.Helper()
	p := s.expect(state, k, f)
	require.Equal(s.t, want.String(), flowOf(p.Frame).String(), "%s", s.story())
	return p
}

// entries wants these lines of dpctl/dump-conntrack -s, in order of their text.
func (s story) entries(want ...string) {
	s.t.Helper()
	s.settle()
	require.Equal(s.t, want, s.dump())
}

func through(requests ...conntrack.Request) script {
	var s script
	for _, r := range requests {
		s = append(s, step{Request: r})
	}
	return s
}

func zone(z uint16) conntrack.Request   { return conntrack.Request{Zone: z} }
func commit(z uint16) conntrack.Request { return conntrack.Request{Zone: z, Commit: true} }

func withNAT(r conntrack.Request, n conntrack.NAT) conntrack.Request {
	r.NAT = n
	return r
}

func unNAT(z uint16) conntrack.Request {
	return withNAT(zone(z), conntrack.NAT{Kind: conntrack.NATExisting})
}

func dnat(z uint16, to string, port uint16) conntrack.Request {
	return withNAT(commit(z), conntrack.NAT{Kind: conntrack.NATDst, AddrMin: ip(to), PortMin: port})
}

func snat(z uint16, to string, port uint16) conntrack.Request {
	return withNAT(commit(z), conntrack.NAT{Kind: conntrack.NATSrc, AddrMin: ip(to), PortMin: port})
}

// client talks to server; vip stands for it.
var (
	client = ip("10.0.0.1")
	server = ip("10.0.1.1")
	vip    = ip("10.0.9.9")
	up     = flow{client, server, 1000, 80}
	down   = up.back()
	toVIP  = flow{client, vip, 1000, 80}
)
