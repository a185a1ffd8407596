package simhost_test

import (
	"fmt"
	"net/netip"
	"time"

	"hpnn/internal/packet"
	"hpnn/testbed/simhost"
)

// Two hosts on a hub: one asks, one answers, is killed, and comes back. No time passes.
func Example() {
	w := simhost.New(simhost.Config{})
	add := func(name, address string, port uint32, mac packet.MAC) *simhost.Host {
		h, err := w.Add(simhost.HostConfig{Name: name, Port: port, MAC: mac, Address: netip.MustParsePrefix(address)})
		if err != nil {
			panic(err)
		}
		return h
	}
	be1 := add("be1", "10.20.0.2/24", 10, packet.MustMAC("02:42:0a:14:00:02"))
	cli2 := add("cli2", "10.20.0.10/24", 12, packet.MustMAC("02:42:0a:14:00:0a"))
	if _, err := be1.ServeWeb(8080); err != nil {
		panic(err)
	}

	ask := func() {
		r := cli2.Get("http://10.20.0.2:8080/", simhost.GetOptions{}, nil)
		w.Until(r.Done, time.Minute)
		fmt.Println(r)
	}
	ask()
	be1.Kill()
	ask()
	if err := be1.Revive(); err != nil {
		panic(err)
	}
	w.Advance(time.Hour)
	ask()
	// Output:
	// GET http://10.20.0.2:8080/: 200 backend=be1  time=2026-08-17 15:00:00 MSK client=10.20.0.10:32768  served=10.20.0.2:8080  req=1
	// GET http://10.20.0.2:8080/: connection refused
	// GET http://10.20.0.2:8080/: 200 backend=be1  time=2026-08-17 16:00:00 MSK client=10.20.0.10:32770  served=10.20.0.2:8080  req=1
}
