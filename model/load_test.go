package model

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func examples(t testing.TB) []string {
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 3)
	return append(files, "testdata/every-key.yaml")
}

func TestExamplesLoadAndPrintThemselves(t *testing.T) {
	for _, file := range examples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			topology, err := Load(file)
			require.NoError(t, err)
			require.NoError(t, Validate(topology))
			again, err := Parse("effective", topology.YAML())
			require.NoError(t, err, "%s", topology.YAML())
			require.Equal(t, topology, again)
			require.Equal(t, topology, WithDefaults(topology))
		})
	}
}

func TestEffectiveConfigurationOfTheMinimalExample(t *testing.T) {
	topology, err := Load("../examples/minimal.yaml")
	require.NoError(t, err)
	golden(t, "testdata/minimal-effective.yaml", string(topology.YAML()))
}

// TestPrototypeStand spells out the stand that the reference example has to describe.
func TestPrototypeStand(t *testing.T) {
	got, err := Load("../examples/hpnn.yaml")
	require.NoError(t, err)
	addr, prefix := netip.MustParseAddr, netip.MustParsePrefix
	mac := func(s string) MAC {
		m, err := ParseMAC(s)
		require.NoError(t, err)
		return m
	}
	host := func(name, segment, a, m string, port uint32) Host {
		return Host{Name: name, Segment: segment, Address: addr(a), MAC: mac(m), Port: Port{name, port}}
	}
	member := func(id uint16, name, a string) Member {
		return Member{ID: id, Name: name, Host: name, Address: addr(a), Port: 8080, Weight: 1}
	}
	listener := func(name, vip, segment string) Listener {
		return Listener{Name: name, VIP: addr(vip), Port: 80, Segments: []string{segment}, Pool: "web"}
	}
	require.Equal(t, Topology{
		Node: Node{"hpnn-lb", "br-lb"},
		Segments: []Segment{
			{ID: 1, Name: "pub", Kind: Public, Prefix: prefix("192.168.5.0/24"),
				Gateway: Gateway{addr("192.168.5.20"), mac("02:42:c0:a8:05:14")}, Uplink: &Port{"pub0", 1}},
			{ID: 2, Name: "p2", Kind: Private, Prefix: prefix("10.20.0.0/24"),
				Gateway: Gateway{addr("10.20.0.1"), mac("02:42:0a:14:00:01")}, Uplink: &Port{"p2", 2},
				Probe: &Probe{addr("10.20.0.253"), mac("02:42:0a:14:00:fd"), Port{"hcif-p2", 4}}},
			{ID: 3, Name: "p3", Kind: Private, Prefix: prefix("10.30.0.0/24"),
				Gateway: Gateway{addr("10.30.0.1"), mac("02:42:0a:1e:00:01")}, Uplink: &Port{"p3", 3},
				Probe: &Probe{addr("10.30.0.253"), mac("02:42:0a:1e:00:fd"), Port{"hcif-p3", 5}}},
		},
		Hosts: []Host{
			host("be1", "p2", "10.20.0.2", "02:42:0a:14:00:02", 10),
			host("be3", "p2", "10.20.0.3", "02:42:0a:14:00:03", 11),
			host("cli2", "p2", "10.20.0.10", "02:42:0a:14:00:0a", 12),
			host("be2", "p3", "10.30.0.2", "02:42:0a:1e:00:02", 20),
			host("be4", "p3", "10.30.0.3", "02:42:0a:1e:00:03", 21),
			host("cli3", "p3", "10.30.0.10", "02:42:0a:1e:00:0a", 22),
		},
		Pools: []Pool{{
			ID: 1, Name: "web", Slots: 1024, Hash: Tuple, Algorithm: MaglevStable, NoLiveMember: Drop,
			Health: HealthMonitor{Type: MonitorHTTP, Interval: 2 * time.Second, Timeout: time.Second, Rise: 2, Fall: 3,
				Path: "/healthz", Expect: StatusRange{200, 299}, BodyLimit: 4096, Initial: InitialDown},
			Members: []Member{
				member(1, "be1", "10.20.0.2"), member(2, "be2", "10.30.0.2"),
				member(3, "be3", "10.20.0.3"), member(4, "be4", "10.30.0.3"),
			},
		}},
		Listeners: []Listener{
			listener("public", "192.168.5.21", "pub"),
			listener("private-p2", "10.20.0.100", "p2"),
			listener("private-p3", "10.30.0.100", "p3"),
		},
	}, got)
}

func TestPayloadsAreBytes(t *testing.T) {
	topology, err := Load("testdata/every-key.yaml")
	require.NoError(t, err)
	dns, ok := topology.Pool("dns")
	require.True(t, ok)
	require.Equal(t, "\x12\x34\x01\\'q", dns.Health.Payload)
	require.Equal(t, "\x12\xff", dns.Health.Reply)
}

func TestLoadNamesTheFileItCannotRead(t *testing.T) {
	_, err := Load("no/such.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "load topology: open no/such.yaml")
}

func TestParseTakesWhatEditorsLeaveBehind(t *testing.T) {
	data, err := os.ReadFile("../examples/minimal.yaml")
	require.NoError(t, err)
	want, err := Parse("", data)
	require.NoError(t, err)
	for name, text := range map[string]string{
		"byte order mark":  "\ufeff" + string(data),
		"windows newlines": windowsNewlines(string(data)),
		"document markers": "---\n" + string(data) + "...\n",
		"comment last":     string(data) + "# end",
	} {
		got, err := Parse("", []byte(text))
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}

func TestParseRefusesWhatIsTooLarge(t *testing.T) {
	_, err := Parse("big.yaml", make([]byte, maxSize+1))
	require.EqualError(t, err, "big.yaml:1:1: the file has 4194305 bytes: use at most 4194304")
}
