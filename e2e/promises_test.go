//go:build e2e && linux

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/netns"
)

// hairpin: a backend calls the VIP of its own segment and may land on itself.
func hairpin(s *site, t *testing.T) {
	r := begin(s.bed.Machine("be1").Client(patience), privateP2, 60).wait()
	s.table.add("60 requests of be1 to its own VIP", r.shares(), "0 failed, each > 0")
	require.Empty(t, r.failed, r.faults())
	for _, member := range membersOf {
		require.Positive(t, r.byHost[member], "of %s, %s", member, r.shares())
	}
}

// portReuse: a client's port is used to the VIP and to the member behind it, one after the other, both ways round.
func portReuse(s *site, t *testing.T) {
	client := s.bed.Machine("client")
	const from, ports = 60000, 12 // above those of freshPorts
	same := 0
	for port := from; port < from+ports; port++ { // the VIP first
		member := ask(t, client, port, "192.168.5.21:80")
		require.Equal(t, member, ask(t, client, port, s.bed.Machine(member).Address.Addr().String()+":8080"))
	}
	for port := from + ports; port < from+3*ports; port++ { // the member first
		require.Equal(t, "be1", ask(t, client, port, s.bed.Machine("be1").Address.Addr().String()+":8080"))
		if ask(t, client, port, "192.168.5.21:80") == "be1" {
			same++
		}
	}
	require.Positive(t, same, "no port led from the VIP to be1")
	s.table.add("ports used to the VIP, then to its member", fmt.Sprintf("%d of %d answered", ports, ports), "all")
	s.table.add("ports used to a member, then to the VIP", fmt.Sprintf("%d of %d answered, %d by the same", 2*ports, 2*ports, same), "all")
}

// closed is how long the last acknowledgement of a connection may take to its member. While a member has not heard it, its
// kernel takes a SYN from the same address and port for one of the old connection, whatever way it came.
const closed = 20 * time.Millisecond

// ask makes a request from a port and closes first, so that the member's side keeps nothing; it returns who answers.
func ask(t *testing.T, m *netns.Machine, port int, to string) (member string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := net.Dialer{LocalAddr: &net.TCPAddr{Port: port}, Control: reuse}
	var conn net.Conn
	require.NoError(t, m.Do(func() (err error) {
		conn, err = d.DialContext(ctx, "tcp", to)
		return err
	}), "port %d to %s", port, to)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", to)
	in := bufio.NewReader(conn)
	r, err := http.ReadResponse(in, nil)
	require.NoError(t, err, "port %d to %s", port, to)
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	found := answerLine.FindStringSubmatch(string(body))
	require.NotNil(t, found, "%s", body)
	require.Equal(t, fmt.Sprint(port), found[3])
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	_, err = in.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	time.Sleep(closed)
	return found[1]
}

// reuse lets a port be bound that a connection in TIME_WAIT still has.
func reuse(_, _ string, c syscall.RawConn) (err error) {
	if e := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) }); e != nil {
		return e
	}
	return err
}

func otherPort(s *site, t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.bed.Machine("client").Dial(ctx, "tcp", "192.168.5.21:81")
	require.Error(t, err)
	require.True(t, os.IsTimeout(err), "%v", err)
}

// killedMember: the processes are gone, the kernel refuses.
func killedMember(s *site, t *testing.T) {
	const limit = fall*interval + time.Second
	m := s.bed.Machine("be3")
	l := begin(s.bed.Machine("client").Client(patience), public, forever)
	m.Kill()
	took := s.await(t, "be3 out", patience, func(st netns.Status) bool { return !inPool(st, "be3") && st.Control.InSync })
	during := l.stop()
	s.table.add("killed member out of the pool", ms(took), ms(limit))
	s.table.add("requests until then", during.String(), "")
	promised(t, took, limit)

	r := begin(s.bed.Machine("client").Client(patience), public, 200).wait()
	s.table.add("200 requests with a killed member", r.String(), "0 failed")
	require.Empty(t, r.failed, r.faults())
	require.Zero(t, r.byHost["be3"])
	require.NoError(t, s.bed.Revive(m))
	s.await(t, "be3 back", patience, allLive)
}

// synRetry: the cable of a member is cut. A SYN that was sent to it is sent again by the client's kernel after a second, and
// then reaches another: nobody fails.
func synRetry(s *site, t *testing.T) {
	m := s.bed.Machine("be4")
	require.NoError(t, s.bed.Cut(m))
	defer func() { require.NoError(t, s.bed.Mend(m)) }()
	r := begin(s.bed.Machine("client").Client(patience), public, 200).wait()
	s.table.add("200 requests from when a cable was cut on", r.String(), "0 failed")
	require.Empty(t, r.failed, r.faults())
	require.Zero(t, r.byHost["be4"])
	s.await(t, "be4 out", patience, func(st netns.Status) bool { return !inPool(st, "be4") })
	require.NoError(t, s.bed.Mend(m))
	s.await(t, "be4 back", patience, allLive)
}
