//go:build e2e && linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	"hpnn/testbed/netns"
)

const (
	public    = "http://192.168.5.21/"
	privateP2 = "http://10.20.0.100/"

	patience = 8 * time.Second // for a request that is to be answered, whatever the machine is busy with
	upWithin = 5 * time.Second // all members, after the daemon's start

	drainFor = 200 * time.Millisecond // between a drain and an enable, and before the next
)

var membersOf = []string{"be1", "be2", "be3", "be4"}

// TestSite is one site's life; what comes later builds on what was before.
func TestSite(t *testing.T) {
	s := newSite(t)
	defer func() { s.table.print(os.Stdout) }()
	for _, story := range []struct {
		name string
		tell func(*site, *testing.T)
	}{
		{"MembersComeUp", membersComeUp},
		{"RequestsSpreadAndCarryTheClientsAddress", requestsSpread},
		{"NeighboursAreOneHopNearer", neighbours},
		{"NodeAnswersARPAndPing", arpAndPing},
		{"BackendsReachTheirOwnVIP", hairpin},
		{"PortsAreUsedAgain", portReuse},
		{"PortWithoutListenerIsSilent", otherPort},
		{"DrainLosesNothing", drainUnderLoad},
		{"DownloadOutlivesDrain", downloadAcrossDrain},
		{"BulkTransfersArriveWhole", bulkTransfers},
		{"FrozenMemberLeaves", frozenMember},
		{"KilledMemberLeaves", killedMember},
		{"SYNsReachAnotherMember", synRetry},
		{"DaemonDies", daemonDies},
		{"DatabaseDies", databaseDies},
		{"SwitchDies", switchDies},
	} {
		if t.Run(story.name, func(t *testing.T) { s.freshPorts(t, 3000); story.tell(s, t) }) {
			continue
		}
		s.keep()
		if story.name == "MembersComeUp" {
			return // nothing else can be
		}
	}
}

func membersComeUp(s *site, t *testing.T) {
	begun := time.Now()
	require.NoError(t, s.bed.StartHCD(t.Context()))
	s.await(t, "all members live", upWithin, allLive)
	s.table.add("all members live after the daemon's start", ms(time.Since(begun)), ms(upWithin))
}

func requestsSpread(s *site, t *testing.T) {
	for _, c := range []struct {
		from, url string
	}{{"client", public}, {"cli2", privateP2}} {
		client := s.bed.Machine(c.from)
		r := begin(client.Client(patience), c.url, 200).wait()
		require.Empty(t, r.failed, r.faults())
		for _, a := range r.answers {
			m := answerLine.FindStringSubmatch(a.body)
			require.NotNil(t, m, a.body)
			require.Equal(t, client.Address.Addr().String(), m[2])
			require.Equal(t, s.bed.Machine(m[1]).Address.Addr().String()+":8080", m[4])
		}
		for _, member := range membersOf {
			require.Greater(t, r.byHost[member], 20, "of %s, %s", member, r.shares())
		}
		s.table.add("200 requests from "+c.from, r.shares(), "each > 20")
	}
}

// neighbours reads the TTL of the clients' SYNs at the members' cables.
func neighbours(s *site, t *testing.T) {
	ttl := func(member, from string) (uint8, string) {
		ip, eth := lastSYN(t, s.bed, member, s.bed.Machine(from).Address.Addr())
		return ip.TTL, eth.SrcMAC.String()
	}
	for _, member := range []string{"be1", "be3"} { // in cli2's segment
		n, mac := ttl(member, "cli2")
		require.EqualValues(t, 64, n)
		require.Equal(t, s.bed.Machine("cli2").MAC.String(), mac, "seen by a neighbour")
	}
	for _, c := range [][2]string{{"be2", "cli2"}, {"be4", "cli2"}, {"be1", "client"}, {"be2", "client"}} {
		n, _ := ttl(c[0], c[1])
		require.EqualValues(t, 63, n, "from %s to %s", c[1], c[0])
	}
	s.table.add("TTL at a member: neighbour, other segment", "64, 63", "64, 63")
}

// lastSYN is the newest SYN from an address at a member's cable.
func lastSYN(t *testing.T, bed *netns.Bed, member string, from netip.Addr) (found *layers.IPv4, eth *layers.Ethernet) {
	for _, f := range bed.Frames(bed.Machine(member)) {
		p := gopacket.NewPacket(f.Data, layers.LayerTypeEthernet, gopacket.NoCopy)
		ip, _ := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
		tcp, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
		if ip != nil && tcp != nil && tcp.SYN && !tcp.ACK && ip.SrcIP.String() == from.String() {
			found, eth = ip, p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
		}
	}
	require.NotNil(t, found, "no SYN from %v at %s", from, member)
	return found, eth
}

func arpAndPing(s *site, t *testing.T) {
	answered := 0
	for _, c := range []struct{ from, to, mac string }{
		{"client", "192.168.5.20", "02:42:c0:a8:05:14"},
		{"client", "192.168.5.21", "02:42:c0:a8:05:14"},
		{"cli2", "10.20.0.1", "02:42:0a:14:00:01"},
		{"cli2", "10.20.0.100", "02:42:0a:14:00:01"},
		{"be4", "10.30.0.100", "02:42:0a:1e:00:01"},
	} {
		m, to := s.bed.Machine(c.from), netip.MustParseAddr(c.to)
		ttl, err := m.Ping(to, patience)
		require.NoError(t, err)
		require.EqualValues(t, 64, ttl, c.to)
		mac, err := m.Neighbour(to)
		require.NoError(t, err)
		require.Equal(t, c.mac, mac.String(), c.to)
		answered++
	}
	ttl, err := s.bed.Machine("cli2").Ping(s.bed.Machine("be2").Address.Addr(), patience)
	require.NoError(t, err)
	require.EqualValues(t, 63, ttl, "one hop")
	for _, c := range [][2]string{{"cli2", "192.168.5.21"}, {"client", "10.30.0.100"}} {
		_, err := s.bed.Machine(c[0]).Ping(netip.MustParseAddr(c[1]), 300*time.Millisecond)
		require.ErrorIs(t, err, syscall.ETIMEDOUT, "a VIP answers in its own segment only")
	}
	s.table.add("own addresses that answer ARP and ping", fmt.Sprint(answered), "5")
}

// requests is how many are made under drain.
func requests(t *testing.T) int {
	text := os.Getenv("HPNN_E2E_REQUESTS")
	if text == "" {
		return 1000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "HPNN_E2E_REQUESTS is a number")
	return n
}

func drainUnderLoad(s *site, t *testing.T) {
	n := requests(t)
	s.freshPorts(t, 2*n)
	l := begin(s.bed.Machine("client").Client(patience), public, n)
	drains := 0
	for ; l.running(); drains++ {
		member := membersOf[drains%len(membersOf)]
		require.NoError(t, s.bed.Drain(t.Context(), member))
		time.Sleep(drainFor)
		require.NoError(t, s.bed.Enable(t.Context(), member))
		time.Sleep(drainFor)
	}
	r := l.wait()
	s.table.add(fmt.Sprintf("%d requests, %d drains", n, drains), r.String(), "0 failed")
	require.Empty(t, r.failed, r.faults())
	require.Len(t, r.answers, n)
}

// download is a slow answer that is read by somebody else.
type download struct {
	member string      // who sends it
	whole  chan string // all that came, once it ended
}

// beginDownload returns after the first line.
func beginDownload(t *testing.T, m *netns.Machine, seconds int) *download {
	r, err := m.Client(0).Get(fmt.Sprintf("%sslow?seconds=%d", public, seconds))
	require.NoError(t, err)
	in := bufio.NewReader(r.Body)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	_, member, _ := strings.Cut(strings.TrimSpace(line), "backend=")
	d := &download{member: member, whole: make(chan string, 1)}
	go func() {
		defer r.Body.Close()
		rest, err := io.ReadAll(in)
		if err != nil {
			rest = append(rest, err.Error()...)
		}
		d.whole <- line + string(rest)
	}()
	return d
}

func (d *download) requireWhole(t *testing.T, seconds int) {
	var want strings.Builder
	for i := range seconds {
		fmt.Fprintf(&want, "tick %d/%d backend=%s\n", i+1, seconds, d.member)
	}
	select {
	case got := <-d.whole:
		require.Equal(t, want.String(), got)
	case <-time.After(time.Duration(seconds)*time.Second + patience):
		require.Fail(t, "the download stands still")
	}
}

func downloadAcrossDrain(s *site, t *testing.T) {
	const seconds = 3
	d := beginDownload(t, s.bed.Machine("client"), seconds)
	require.NoError(t, s.bed.Drain(t.Context(), d.member))
	s.await(t, d.member+" drained", patience, func(st netns.Status) bool { return !inPool(st, d.member) })
	r := begin(s.bed.Machine("client").Client(patience), public, 100).wait()
	require.Empty(t, r.failed, r.faults())
	require.Zero(t, r.byHost[d.member], "a drained member gets no new connections")
	d.requireWhole(t, seconds)
	require.NoError(t, s.bed.Enable(t.Context(), d.member))
	s.await(t, "all members live", patience, allLive)
	s.table.add("download while its member is drained", "whole", "whole")
}

func frozenMember(s *site, t *testing.T) {
	const limit = fall*interval + time.Second
	m := s.bed.Machine("be2")
	l := begin(s.bed.Machine("client").Client(time.Second), public, forever)
	require.NoError(t, m.Freeze())
	defer m.Thaw()
	took := s.await(t, "be2 out", patience, func(st netns.Status) bool { return !inPool(st, "be2") && st.Control.InSync })
	during := l.stop()
	s.table.add("frozen member out of the pool", ms(took), ms(limit))
	s.table.add("requests until then", during.String(), "")
	promised(t, took, limit)

	r := begin(s.bed.Machine("client").Client(patience), public, 200).wait()
	s.table.add("200 requests with a frozen member", r.String(), "0 failed")
	require.Empty(t, r.failed, r.faults())
	require.Zero(t, r.byHost["be2"])

	require.NoError(t, m.Thaw())
	back := s.await(t, "be2 back", patience, allLive)
	s.table.add("thawed member back in the pool", ms(back), "")
}

func daemonDies(s *site, t *testing.T) {
	before, err := s.bed.Status(t.Context())
	require.NoError(t, err)
	const seconds = 4
	d := beginDownload(t, s.bed.Machine("client"), seconds)
	l := begin(s.bed.Machine("client").Client(patience), public, forever)
	time.Sleep(calm)
	s.bed.KillHCD()
	time.Sleep(supervisor)
	begun := time.Now()
	require.NoError(t, s.bed.StartHCD(t.Context()))
	s.await(t, "all members live", patience, allLive)
	took := time.Since(begun)
	d.requireWhole(t, seconds)
	r := l.stop()
	s.table.add("kill -9 and restart of hcd under load", r.String(), "0 failed")
	s.table.add("hcd in charge again after its start", ms(took), "")
	s.table.add("download across the restart", "whole", "whole")
	require.Empty(t, r.failed, r.faults())
	after, err := s.bed.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Pools[0].Digest, after.Pools[0].Digest, "the slot table")
}

const (
	// repairWithin is how long the site may take once what died is back.
	repairWithin = 2 * time.Second
	// supervisor is how long it takes until what died is started again.
	supervisor = 300 * time.Millisecond
	// calm is how long the load runs before something happens.
	calm = 200 * time.Millisecond
)

// databaseDies: an ovs-vswitchd that has lost its database forwards nothing in its userspace datapath, and no OpenFlow,
// until it has the database back; it tries after 1, 2, 4, 8 s. So the supervisor has to be quick, and clients wait. Meanwhile
// all members seem down and lose their connections, so that single requests may fail.
func databaseDies(s *site, t *testing.T) {
	ovs := s.bed.OVS()
	if ovs == nil {
		t.Skip("the switch has no database")
	}
	l := begin(s.bed.Machine("client").Client(patience), public, forever)
	time.Sleep(calm)
	ovs.KillDatabase()
	time.Sleep(supervisor)
	require.NoError(t, ovs.StartDatabase(t.Context()))
	begun := time.Now()
	first, ok := l.firstSuccess(begun, patience)
	require.True(t, ok, "no request is answered any more")
	time.Sleep(time.Second) // what comes of the probes that failed comes later
	s.await(t, "all members live", patience, allLive)
	r := l.stop()
	s.table.add("kill -9 of ovsdb-server under load", r.String(), "")
	s.table.add("first answer after it was back", ms(first.Sub(begun)), ms(repairWithin))
	promised(t, first.Sub(begun), repairWithin)
}

func switchDies(s *site, t *testing.T) {
	l := begin(s.bed.Machine("client").Client(500*time.Millisecond), public, forever)
	time.Sleep(calm)
	s.bed.KillSwitch()
	time.Sleep(supervisor)
	require.NoError(t, s.bed.StartSwitch(t.Context()))
	begun := time.Now()
	first, ok := l.firstSuccess(begun, patience)
	require.True(t, ok, "no request is answered any more")
	s.await(t, "all members live", patience, allLive)
	full := time.Since(begun)
	r := l.stop()
	s.table.add("kill -9 of the switch under load", r.String(), "")
	s.table.add("first answer after it was back", ms(first.Sub(begun)), ms(repairWithin))
	s.table.add("all members live after it was back", ms(full), "")
	promised(t, first.Sub(begun), repairWithin)

	s.freshPorts(t, 3000)
	after := begin(s.bed.Machine("client").Client(patience), public, 200).wait()
	require.Empty(t, after.failed, after.faults())
	s.table.add("200 requests afterwards", after.String(), "0 failed")
}
