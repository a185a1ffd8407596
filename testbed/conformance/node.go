package conformance

import (
	"net/netip"
	"slices"
	"sync"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// topology is a small node whose rules some cases run: what the simulator is for.
const topology = `
segments:
  - name: pub
    kind: public
    prefix: 10.0.0.0/24
    gateway: {address: 10.0.0.200, mac: 02:00:00:00:00:aa}
    uplink: {name: p1, number: 1}
  - name: lan
    kind: private
    prefix: 10.1.0.0/24
    gateway: {address: 10.1.0.1, mac: 0a:00:27:ff:ff:01}
    probe: {address: 10.1.0.253, port: {name: p2, number: 2}}
hosts:
  - {name: web1, segment: lan, address: 10.1.0.9, mac: 02:00:00:00:00:03, port: {name: p3, number: 3}}
  - {name: web2, segment: lan, address: 10.1.0.10, mac: 02:00:00:00:00:02, port: {name: p4, number: 4}}
pools:
  - name: web
    slots: 8
    members:
      - {host: web1, port: 8080}
      - {host: web2, port: 8080}
listeners:
  - {name: public, vip: 10.0.0.100, port: 80, segments: [pub], pool: web}
  - {name: private, vip: 10.1.0.100, port: 80, segments: [lan], pool: web}
`

// node is the rules of the topology.
var node = sync.OnceValue(func() []openflow.Flow {
	t, err := model.Parse("topology", []byte(topology))
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return slices.Collect(pipeline.Render(t, pipeline.Layout(t, pipeline.State{})).All())
})

// nodeClient is a host that opens a connection through the node: from outside or inside, to a VIP or past it.
func (m *maker) nodeClient() end {
	outside := end{port: 1, eth: packet.Ether{Src: macs[0], Dst: macs[3]}}
	outside.ip.Src = pick(m, addrs("10.0.0.1", "10.0.0.2", "192.168.5.13")...)
	inside := end{port: 3, eth: packet.Ether{Src: macs[2], Dst: macs[4]}}
	inside.ip.Src = netip.MustParseAddr("10.1.0.9")
	e := outside
	targets := addrs("10.0.0.100", "10.0.0.100", "10.0.0.100", "10.1.0.9", "10.0.0.200", "10.1.0.100")
	if m.chance(35) {
		e, targets = inside, addrs("10.1.0.100", "10.1.0.100", "10.1.0.10", "10.0.0.1", "10.0.0.100", "10.1.0.1")
	}
	e.ip.Dst, e.ip.TTL, e.seq = pick(m, targets...), 64, m.Uint32()
	e.src, e.dst = pick(m, clientPorts...), pick[uint16](m, 80, 80, 80, 8080, 53)
	if e.ip.Dst == netip.MustParseAddr("10.1.0.10") {
		e.eth.Dst = macs[1]
	}
	return e
}
