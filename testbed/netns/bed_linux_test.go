package netns

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

func example(t *testing.T) model.Topology {
	top, err := model.Load("../../examples/hpnn.yaml")
	require.NoError(t, err)
	return top
}

func TestWhatIsBeyondTheUplinks(t *testing.T) {
	top := example(t)
	var all []string
	for _, s := range top.Segments {
		m := beyond(top, s)
		all = append(all, fmt.Sprintf("%s %v %v at %s, %d routes", m.Name, m.Address, m.MAC, m.Port, len(m.routes)))
	}
	require.Equal(t, []string{
		"client 192.168.5.13/24 02:42:c0:a8:05:0d at pub0, 2 routes",
		"gw-p2 10.20.0.254/24 02:42:0a:14:00:fe at p2, 0 routes",
		"gw-p3 10.30.0.254/24 02:42:0a:1e:00:fe at p3, 0 routes",
	}, all)

	top.Segments[1].Gateway.Address = netip.MustParseAddr("10.20.0.254")
	require.Equal(t, "10.20.0.252/24", beyond(top, top.Segments[1]).Address.String(), "the next that is neither the gateway's nor the probe's")
}

func TestRunsThatAreDead(t *testing.T) {
	dead := exec.Command("true")
	require.NoError(t, dead.Run())
	for name, want := range map[string]bool{
		fmt.Sprintf("hpnn-%d-1-node", dead.Process.Pid): true,
		fmt.Sprintf("hpnn-%d-1-node", os.Getpid()):      false,
		"hpnn-1-node": false, "hpnn-0-node": false, "hpnn--5-node": false, "hpnn-x-node": false,
		fmt.Sprintf("hpnn-%d", dead.Process.Pid): false, "hpnn-failed-20260101-000000": false,
	} {
		require.Equal(t, want, abandoned(name), name)
	}
}

func TestCapturesKeepTheNewest(t *testing.T) {
	var r ring
	for i := range keepFrames + 10 {
		r.add(Frame{At: time.Unix(int64(i), 0)})
	}
	frames := r.frames()
	require.Len(t, frames, keepFrames)
	for i, f := range frames {
		require.EqualValues(t, i+10, f.At.Unix())
	}
}

// available skips the test where no site can be built.
func available(t *testing.T) {
	if reason, ok := Available(OpenVSwitch); !ok {
		t.Skip(reason)
	}
}

// standIns has a stand-in for backend that does not have to be built.
func standIns(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "backend"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755))
	return dir
}

func TestSiteComesAndGoes(t *testing.T) {
	available(t)
	bed, err := Open(t.Context(), Config{Topology: example(t), Programs: standIns(t)})
	require.NoError(t, err)
	defer bed.Close()

	// The switch forwards between kernels, once it has a bridge.
	add := []string{"--db=" + bed.OVS().databaseAddress(), "add-br", "br-lb", "--", "set", "bridge", "br-lb", "datapath_type=netdev"}
	for _, m := range bed.Machines() {
		add = append(add, "--", "add-port", "br-lb", m.Port)
	}
	_, err = bed.OVS().Tool(t.Context(), "ovs-vsctl", add...)
	require.NoError(t, err)
	be1, be3 := bed.Machine("be1"), bed.Machine("be3")
	ttl, err := be1.Ping(be3.Address.Addr(), 10*time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 64, ttl)
	mac, err := be1.Neighbour(be3.Address.Addr())
	require.NoError(t, err)
	require.Equal(t, be3.MAC, mac)
	requireEcho(t, bed.Frames(be3), be1, be3)

	requireConnects(t, be1, be3)

	dir := t.TempDir()
	require.Error(t, bed.Keep(t.Context(), dir), "there is no hcd to ask")
	for _, file := range []string{"in/be1.pcap", "out/pub0.pcap", "flows.txt", "ovs-vswitchd.log", "topology.yaml"} {
		require.FileExists(t, filepath.Join(dir, file))
	}

	pid := bed.OVS().vswitchd.process.Pid
	require.Len(t, leftovers(t, os.Getpid()), 10)
	bed.Close()
	bed.Close()
	require.Empty(t, leftovers(t, os.Getpid()))
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.NoDirExists(t, bed.Dir())
}

// requireEcho requires that a request went to a machine and a reply came from it.
func requireEcho(t *testing.T, frames []Frame, from, to *Machine) {
	const protocol, kind = 23, 34 // in an Ethernet frame with IPv4 and no options
	ways := map[byte]Way{}
	for _, f := range frames {
		if len(f.Data) > kind && f.Data[12] == 8 && f.Data[13] == 0 && f.Data[protocol] == 1 {
			require.ElementsMatch(t, []model.MAC{from.MAC, to.MAC}, []model.MAC{model.MAC(f.Data[:6]), model.MAC(f.Data[6:12])})
			ways[f.Data[kind]] = f.Way
		}
	}
	require.Equal(t, map[byte]Way{8: Out, 0: In}, ways)
}

// requireConnects sends a line from one machine to another over TCP.
func requireConnects(t *testing.T, from, to *Machine) {
	var l net.Listener
	require.NoError(t, to.space.do(func() (err error) {
		l, err = net.Listen("tcp", to.Address.Addr().String()+":7")
		return err
	}))
	defer l.Close()
	got := make(chan string, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			var line string
			_, _ = fmt.Fscanln(c, &line)
			got <- line
			_ = c.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := from.Dial(ctx, "tcp", l.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	fmt.Fprintln(c, "hello")
	select {
	case line := <-got:
		require.Equal(t, "hello", line)
	case <-ctx.Done():
		require.Fail(t, "nothing arrived")
	}
}

// leftovers are the namespaces of a process, as ip lists them.
func leftovers(t *testing.T, pid int) (names []string) {
	out, err := exec.Command("ip", "-json", "netns", "list").Output()
	if err != nil {
		t.Skipf("needs ip: %v", err)
	}
	var all []struct{ Name string }
	if len(out) > 0 {
		require.NoError(t, json.Unmarshal(out, &all))
	}
	for _, ns := range all {
		if strings.HasPrefix(ns.Name, prefix+strconv.Itoa(pid)+"-") {
			names = append(names, ns.Name)
		}
	}
	return names
}

// TestSweep lets a process build a site, kills it, and removes what it leaves.
func TestSweep(t *testing.T) {
	if dir := os.Getenv("HPNN_NETNS_VICTIM"); dir != "" {
		_, err := Open(t.Context(), Config{Topology: example(t), Programs: dir})
		fmt.Println("built", err)
		select {}
	}
	available(t)
	victim := exec.Command(os.Args[0], "-test.run=^TestSweep$")
	victim.Env = append(os.Environ(), "HPNN_NETNS_VICTIM="+standIns(t))
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	var word, problem string
	_, err = fmt.Fscanln(out, &word, &problem)
	require.NoError(t, err)
	require.Equal(t, "built <nil>", word+" "+problem)
	pid := victim.Process.Pid
	require.Len(t, leftovers(t, pid), 10)
	_, err = Sweep()
	require.NoError(t, err)
	require.Len(t, leftovers(t, pid), 10, "it lives")

	require.NoError(t, victim.Process.Kill())
	_ = victim.Wait() // it was killed
	removed, err := Sweep()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(removed), 11, "10 namespaces and a directory")
	require.Empty(t, leftovers(t, pid))
}
