package model_test

import (
	"fmt"

	"hpnn/model"
)

func ExampleParse() {
	_, err := model.Parse("node.yaml", []byte(`
segments:
  - {name: pub, kind: public, prefix: 192.0.2.0/24, gateway: 192.0.2.1, uplink: {name: eth0, number: 1}}
  - {name: lan, kind: private, prefix: 10.0.0.0/24, gateway: 10.0.1.1, probe: {adress: 10.0.0.253, port: 2}}
listeners:
  - {name: web, vip: 192.0.2.1, port: 80, segments: [pub], pool: web}
`))
	fmt.Println(err)
	// Output:
	// node.yaml:4:62: segments[1].gateway.address: 10.0.1.1 is outside the prefix of segment lan: use an address of 10.0.0.0/24
	// node.yaml:4:80: segments[1].probe.adress: unknown key: did you mean "address"?
	// node.yaml:6:22: listeners[0].vip: 192.0.2.1 is already segments[0].gateway.address: give the VIP an address of its own
	// node.yaml:6:66: listeners[0].pool: there is no pool "web": declare it
}

func ExampleTopology_NextHop() {
	t, err := model.Load("../examples/two-pools.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range t.Pools[1].Members {
		via, _ := t.NextHop(m.Address)
		fmt.Printf("%s goes to %s on port %d\n", m.Key(), via.Name, via.Port.Number)
	}
	// Output:
	// 10.1.0.13:5222 goes to large on port 13
	// 10.2.0.20:5222 goes to inner on port 14
}
