package simhost_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/simhost"
)

// benchHosts is two hosts on a hub without a log.
func benchHosts(b *testing.B) (w *simhost.World, server, client *simhost.Host) {
	w = simhost.New(simhost.Config{})
	add := func(name string, n byte) *simhost.Host {
		h, err := w.Add(hostConfig(name, n))
		require.NoError(b, err)
		return h
	}
	return w, add("server", 2), add("client", 3)
}

// BenchmarkRequest is an HTTP request with a connection of its own: 10 frames over two links.
func BenchmarkRequest(b *testing.B) { benchRequests(b, simhost.GetOptions{}) }

// BenchmarkKeepAlive is one over a connection that is there.
func BenchmarkKeepAlive(b *testing.B) {
	benchRequests(b, simhost.GetOptions{KeepAlive: simhost.Reusable})
}

func benchRequests(b *testing.B, o simhost.GetOptions) {
	w, server, client := benchHosts(b)
	_, err := server.ServeWeb(80)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		r := client.Get("http://10.0.0.2/", o, nil)
		if !w.Until(r.Done, time.Minute) || r.Result().Err != nil {
			b.Fatal(r)
		}
	}
}

// BenchmarkTransfer moves a megabyte.
func BenchmarkTransfer(b *testing.B) {
	w, server, client := benchHosts(b)
	web, err := server.ServeWeb(80)
	require.NoError(b, err)
	body := string(make([]byte, 1<<20))
	web.Handle("/big", func(x *simhost.Exchange) { x.Reply(200, body) })
	b.SetBytes(1 << 20)
	for b.Loop() {
		r := client.Get("http://10.0.0.2/big", simhost.GetOptions{}, nil)
		if !w.Until(r.Done, time.Minute) || len(r.Result().Body) != len(body) {
			b.Fatal(r)
		}
	}
}

// BenchmarkPing is a frame each way.
func BenchmarkPing(b *testing.B) {
	w, server, client := benchHosts(b)
	b.ReportAllocs()
	for b.Loop() {
		p := client.Ping(server.Address(), simhost.PingOptions{}, nil)
		if !w.Until(func() bool { _, ok := p.Result(); return ok }, time.Minute) {
			b.Fatal("no answer")
		}
	}
}
