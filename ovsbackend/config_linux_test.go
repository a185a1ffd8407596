package ovsbackend_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/internal/packet"
	"hpnn/ovsbackend"
)

func TestBridgeIsCreatedAsConfigured(t *testing.T) {
	d := startDaemons(t, withDummies...)
	b := openWithin(t, d.config())
	require.Equal(t, "secure", d.vsctl("get-fail-mode", "brt"))
	require.Equal(t, "[OpenFlow10, OpenFlow11, OpenFlow12, OpenFlow13, OpenFlow14, OpenFlow15]", d.vsctl("get", "bridge", "brt", "protocols"))
	require.Equal(t, "7", d.vsctl("get", "interface", "up0", "ofport"))
	require.Equal(t, "3", d.vsctl("get", "interface", "up1", "ofport"))
	require.Equal(t, ovsbackend.Info{Bridge: "brt", Datapath: "dummy", Version: b.Info().Version, RunDir: d.dir,
		Database: "unix:" + d.path("db.sock"), PortProblems: map[string]string{}}, b.Info())
	require.Regexp(t, `^\d+\.\d+\.\d+$`, b.Info().Version)
	require.Empty(t, flows(t, b))
}

// Opening once more changes nothing, not even the number of changes.
func TestOpeningAgainChangesNothing(t *testing.T) {
	d := startDaemons(t, withDummies...)
	first := openWithin(t, d.config())
	want := program(t, "table=0,priority=5 actions=drop")
	require.NoError(t, first.Commit(t.Context(), want.Bundle()))
	before := d.vsctl("get", "open_vswitch", ".", "next_cfg")
	second := openWithin(t, d.config())
	require.Equal(t, before, d.vsctl("get", "open_vswitch", ".", "next_cfg"))
	require.Len(t, flows(t, second), 1)
}

func TestBridgeIsAdopted(t *testing.T) {
	d := startDaemons(t, withDummies...)
	d.vsctl("add-br", "brt", "--", "set", "bridge", "brt", "datapath_type=dummy", "fail-mode=standalone",
		"--", "add-port", "brt", "mine", "--", "set", "interface", "mine", "type=dummy", "ofport_request=40",
		"--", "add-port", "brt", "up0", "--", "set", "interface", "up0", "type=dummy", "ofport_request=41",
		"--", "add-br", "other", "--", "set", "bridge", "other", "datapath_type=dummy")
	other := d.vsctl("list", "bridge", "other")
	c := d.config()
	c.DatapathType = ""
	b := openWithin(t, c)
	require.Equal(t, "dummy", b.Info().Datapath)
	require.Equal(t, "secure", d.vsctl("get-fail-mode", "brt"))
	require.Equal(t, "40", d.vsctl("get", "interface", "mine", "ofport"), "foreign ports stay")
	require.Equal(t, "7", d.vsctl("get", "interface", "up0", "ofport"))
	require.Equal(t, other, d.vsctl("list", "bridge", "other"))
	require.Equal(t, "mine\nup0\nup1", d.vsctl("list-ports", "brt"))
}

func TestPortsThatCannotBeHadAreNamed(t *testing.T) {
	d := startDaemons(t, withDummies...)
	d.vsctl("add-br", "brt", "--", "set", "bridge", "brt", "datapath_type=dummy",
		"--", "add-port", "brt", "thief", "--", "set", "interface", "thief", "ofport_request=7",
		"--", "add-br", "other", "--", "set", "bridge", "other", "datapath_type=dummy", "--", "add-port", "other", "up1")
	_, err := ovsbackend.Open(t.Context(), d.config())
	require.ErrorContains(t, err, `port up1 is on bridge "other"`)
	d.vsctl("del-port", "up1")
	b := openWithin(t, d.config())
	require.Len(t, b.Info().PortProblems, 1)
	require.Contains(t, b.Info().PortProblems["up0"], "number 7")
	c := d.config()
	c.DatapathType = "netdev"
	_, err = ovsbackend.Open(t.Context(), c)
	require.ErrorContains(t, err, "has datapath type dummy, not netdev")
}

func TestOpenWithoutASwitch(t *testing.T) {
	d := startDaemons(t, withDummies...)
	c := d.config()
	c.Timeout = 500 * time.Millisecond
	d.kill(d.vswitchd)
	_, err := ovsbackend.Open(t.Context(), c)
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	require.ErrorContains(t, err, "takes over")
	d.kill(d.database)
	_, err = ovsbackend.Open(t.Context(), c)
	require.ErrorIs(t, err, datapath.ErrUnavailable)
	require.ErrorContains(t, err, "db.sock")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ovsbackend.Open(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfigIsChecked(t *testing.T) {
	mac, prefix := packet.MAC{2}, netip.MustParsePrefix("10.0.0.1/24")
	good := ovsbackend.Config{RunDir: "/nowhere", Bridge: "br0"}
	for words, change := range map[string]func(*ovsbackend.Config){
		"no run directory": func(c *ovsbackend.Config) { c.RunDir = "" },
		`database "tcp:`:   func(c *ovsbackend.Config) { c.Database = "tcp:127.0.0.1:6640" },
		`bridge ""`:        func(c *ovsbackend.Config) { c.Bridge = "" },
		`bridge "-x"`:      func(c *ovsbackend.Config) { c.Bridge = "-x" },
		`port "--"`:        func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "--", Number: 1}} },
		"the number 0":     func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "a"}} },
		"the number 65280": func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "a", Number: 0xff00}} },
		"name or number 1": func(c *ovsbackend.Config) {
			c.Ports = []ovsbackend.PortConfig{{Name: "a", Number: 1}, {Name: "b", Number: 1}}
		},
		"name or number 2": func(c *ovsbackend.Config) {
			c.Ports = []ovsbackend.PortConfig{{Name: "a", Number: 1}, {Name: "a", Number: 2}}
		},
		"name or number 3":      func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "br0", Number: 3}} },
		"only an internal":      func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "a", Number: 1, MAC: mac}} },
		"only an internal port": func(c *ovsbackend.Config) { c.Ports = []ovsbackend.PortConfig{{Name: "a", Number: 1, Address: prefix}} },
	} {
		c := good
		change(&c)
		_, err := ovsbackend.Open(t.Context(), c)
		require.ErrorContains(t, err, words)
		require.True(t, strings.HasPrefix(err.Error(), "open bridge"), err)
	}
}
