package health

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/model"
)

// patient is a timeout for probes that will not run into it, however busy the machine is. Those that will do so in virtual
// time, or do not care how far they get before.
const patient = 10 * time.Second

func target(t *testing.T, address string, timeout time.Duration) Target {
	t.Helper()
	a, err := netip.ParseAddrPort(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"))
	require.NoError(t, err)
	return Target{Address: a, Source: netip.MustParseAddr("127.0.0.1"), Timeout: timeout}
}

func requireResult(t *testing.T, outcome Outcome, detail string, got Result) {
	t.Helper()
	require.Equal(t, outcome.String()+"|"+detail, got.Outcome.String()+"|"+got.Detail)
	require.GreaterOrEqual(t, got.Latency, time.Duration(0))
}

// freePort returns an address on which nobody listens.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// answering serves each connection with a function, until the test ends.
func answering(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	over, end := context.WithCancel(context.Background())
	t.Cleanup(func() { end(); l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(over, func() { c.Close() })
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

func TestTCP(t *testing.T) {
	closed := make(chan error, 1)
	address := answering(t, func(c net.Conn) {
		_, err := c.Read(make([]byte, 1))
		closed <- err
	})
	requireResult(t, Passed, "", TCP{}.Probe(t.Context(), target(t, address, patient)))
	require.EqualError(t, <-closed, "EOF", "the member sees an orderly end, not a reset")

	requireResult(t, Refused, "connection refused", TCP{}.Probe(t.Context(), target(t, freePort(t), patient)))
}

func TestProbesLeaveFromTheSourceAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux holds all of 127.0.0.0/8 on loopback")
	}
	from := make(chan net.Addr, 1)
	address := answering(t, func(c net.Conn) { from <- c.RemoteAddr() })
	to := target(t, address, patient)
	to.Source = netip.MustParseAddr("127.0.0.253")
	requireResult(t, Passed, "", TCP{}.Probe(t.Context(), to))
	require.Equal(t, "127.0.0.253", (<-from).(*net.TCPAddr).IP.String())

	to.Source = netip.Addr{}
	requireResult(t, Passed, "", TCP{}.Probe(t.Context(), to))
	require.Equal(t, "127.0.0.1", (<-from).(*net.TCPAddr).IP.String(), "the system's choice")
}

// The node's own fault is not the member's: nothing is learned of it.
func TestASourceTheNodeDoesNotHaveSaysNothingOfTheMember(t *testing.T) {
	for _, p := range []Prober{TCP{}, UDP{}, HTTP{}} {
		to := target(t, freePort(t), patient)
		to.Source = netip.MustParseAddr("192.0.2.253")
		requireResult(t, NotProbed, "not probed: 192.0.2.253 is not an address of this node, or has no free port", p.Probe(t.Context(), to))
	}
}

// dialing returns a dial function that fails.
func dialing(err error) Dial {
	return func(context.Context, string, string, string) (net.Conn, error) { return nil, err }
}

func system(call string, errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError(call, errno)}
}

func TestErrorsInWords(t *testing.T) {
	to := target(t, "10.20.0.2:8080", time.Second)
	to.Source = netip.MustParseAddr("10.20.0.253")
	for _, row := range []struct {
		err     error
		outcome Outcome
		detail  string
	}{
		{system("connect", syscall.ECONNREFUSED), Refused, "connection refused"},
		{system("connect", syscall.EHOSTUNREACH), Unreachable, "no route to host"},
		{system("connect", syscall.ENETUNREACH), Unreachable, "network unreachable"},
		{system("connect", syscall.ECONNRESET), Broken, "connection reset"},
		{system("connect", syscall.ETIMEDOUT), TimedOut, "timeout of the system"},
		{system("connect", syscall.EACCES), NotProbed, "not probed: not permitted by this node: see its firewall"},
		{system("socket", syscall.EMFILE), NotProbed, "not probed: too many open files in this process"},
		{system("bind", syscall.EADDRNOTAVAIL), NotProbed, "not probed: 10.20.0.253 is not an address of this node, or has no free port"},
		{system("dial", syscall.EINVAL), Failed, "invalid argument"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}, TimedOut, "timeout after 1s: no connection"},
		{context.DeadlineExceeded, TimedOut, "timeout after 1s: no connection"},
	} {
		for _, p := range []Prober{TCP{dialing(row.err)}, UDP{Dial: dialing(row.err)}, HTTP{Dial: dialing(row.err)}, ICMP{dialing(row.err)}} {
			requireResult(t, row.outcome, row.detail, p.Probe(t.Context(), to))
		}
	}
	to.Source = netip.Addr{}
	requireResult(t, NotProbed, "not probed: no free port on this node", TCP{dialing(syscall.EADDRNOTAVAIL)}.Probe(t.Context(), to))
	to.Timeout = 0
	requireResult(t, TimedOut, "timeout: no connection", TCP{dialing(os.ErrDeadlineExceeded)}.Probe(t.Context(), to))
}

// A member that is a function: it gets what the probe sends, and its answers are what the probe reads.
func piped(member func(net.Conn)) Dial {
	return func(context.Context, string, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			member(far)
		}()
		return near, nil
	}
}

// mute takes what it is sent and says nothing.
func mute(c net.Conn) { io.Copy(io.Discard, c) }

// requireTimeout probes in virtual time and expects the timeout, to the nanosecond.
func requireTimeout(t *testing.T, detail string, p Prober) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		got := p.Probe(t.Context(), target(t, "10.20.0.2:8080", time.Second))
		requireResult(t, TimedOut, "timeout after 1s: "+detail, got)
		require.Equal(t, time.Second, got.Latency)
		<-time.After(2 * time.Second) // for the member to see that it is alone
	})
}

// A member that neither accepts nor refuses: dialling takes until the timeout.
func TestTimeoutWhileConnecting(t *testing.T) {
	never := Dial(func(ctx context.Context, _, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for _, p := range []Prober{TCP{never}, UDP{Dial: never}, HTTP{Dial: never}, ICMP{never}} {
		requireTimeout(t, "no connection", p)
	}
}

// The same over sockets: a read that waits is ended.
func TestTimeoutOverSockets(t *testing.T) {
	for address, p := range map[string]Prober{
		answering(t, mute): web("/"),
		echoing(t, func(string) []byte { return nil }): UDP{},
	} {
		got := p.Probe(t.Context(), target(t, address, 200*time.Millisecond))
		requireResult(t, TimedOut, "timeout after 200ms: no answer", got)
		require.GreaterOrEqual(t, got.Latency, 200*time.Millisecond)
		require.Less(t, got.Latency, patient)
	}
}

func TestAProbeThatIsCalledOffSaysNothingOfTheMember(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hang := Dial(func(ctx context.Context, _, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	requireResult(t, NotProbed, "probe cancelled", TCP{hang}.Probe(ctx, target(t, "127.0.0.1:1", patient)))
}

// What a dial function is told.
func TestDialIsToldNetworkAndAddresses(t *testing.T) {
	var told []string
	note := Dial(func(_ context.Context, network, local, remote string) (net.Conn, error) {
		told = append(told, network+" "+local+" "+remote)
		return nil, syscall.ECONNREFUSED
	})
	to := Target{Address: netip.MustParseAddrPort("10.20.0.2:8080"), Source: netip.MustParseAddr("10.20.0.253")}
	for _, p := range []Prober{TCP{note}, UDP{Dial: note}, HTTP{Dial: note}, ICMP{note}} {
		p.Probe(t.Context(), to)
	}
	to.Source = netip.Addr{}
	TCP{note}.Probe(t.Context(), to)
	require.Equal(t, []string{
		"tcp 10.20.0.253 10.20.0.2:8080", "udp 10.20.0.253 10.20.0.2:8080", "tcp 10.20.0.253 10.20.0.2:8080",
		"icmp 10.20.0.253 10.20.0.2", "tcp  10.20.0.2:8080",
	}, told)
}

func TestNetDialRefusesWhatItDoesNotKnow(t *testing.T) {
	_, err := NetDial(t.Context(), "sctp", "", "127.0.0.1:1")
	require.EqualError(t, err, "dial sctp 127.0.0.1:1: no such network here: use tcp, udp or icmp")
	_, err = NetDial(t.Context(), "tcp", "localhost", "127.0.0.1:1")
	require.ErrorContains(t, err, "dial tcp 127.0.0.1:1: source: ")
}

func TestNewProber(t *testing.T) {
	m := model.HealthMonitor{
		Path: "/healthz", HostHeader: "web.example:8080", Expect: model.StatusRange{From: 200, To: 204}, BodyLimit: 7,
		Payload: "ping", Reply: "pong",
	}
	http := HTTP{Path: "/healthz", Host: "web.example:8080", Expect: m.Expect, BodyLimit: 7}
	require.Equal(t, http, NewProber(m, nil))
	m.Type = model.MonitorHTTPS
	https := NewProber(m, nil).(HTTP)
	require.Equal(t, "web.example", https.TLS.ServerName)
	https.TLS = nil
	require.Equal(t, http, https)
	m.Type = model.MonitorTCP
	require.Equal(t, TCP{}, NewProber(m, nil))
	m.Type = model.MonitorUDP
	require.Equal(t, UDP{Payload: "ping", Reply: "pong"}, NewProber(m, nil))
	m.Type = model.MonitorICMP
	require.Equal(t, ICMP{}, NewProber(m, nil))
	m.Type = model.MonitorNone
	require.PanicsWithValue(t, "health: no prober for monitor type none", func() { NewProber(m, nil) })
}
