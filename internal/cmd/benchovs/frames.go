package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/model"
)

// clientPorts is how many connections one client of the traffic opens.
const clientPorts = 60_000

// A caller makes the SYNs of clients to a VIP.
type caller struct {
	port    uint32 // OpenFlow number of the port they come in on
	gateway packet.MAC
	clients netip.Addr // the first
	vip     netip.AddrPort
}

// newCaller calls the first listener that serves a public segment, from behind that segment's uplink.
func newCaller(t model.Topology) (caller, error) {
	for _, l := range t.Listeners {
		for _, name := range l.Segments {
			for _, s := range t.Segments {
				if s.Name == name && s.Kind == model.Public && s.Uplink != nil {
					return caller{
						port: s.Uplink.Number, gateway: packet.MAC(s.Gateway.MAC), vip: netip.AddrPortFrom(l.VIP, l.Port),
						clients: addressAt(s.Prefix, 40),
					}, nil
				}
			}
		}
	}
	return caller{}, fmt.Errorf("find a listener of a public segment: none has one: use another topology")
}

// addressAt is the nth address of a prefix.
func addressAt(p netip.Prefix, n uint32) netip.Addr {
	a := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+n)
	return netip.AddrFrom4(a)
}

// client is who opens connection n. After a hundred clients their connections begin again.
func (c caller) client(n int) netip.Addr {
	return addressAt(netip.PrefixFrom(c.clients, c.clients.BitLen()), uint32(n/clientPorts%100))
}

func clientPort(n int) uint16 { return uint16(1024 + n%clientPorts) }

// syn opens connection n, in 54 bytes.
func (c caller) syn(n int) []byte {
	return packet.TCP{
		Eth:     packet.Ether{Src: packet.MAC{2, 0x42, 0, 0, 0, 1}, Dst: c.gateway},
		IP:      packet.IP{Src: c.client(n), Dst: c.vip.Addr()},
		SrcPort: clientPort(n), DstPort: c.vip.Port(), Flags: packet.SYN, Seq: 1, Window: 64240,
	}.Bytes()
}

// syns lie behind each other in memory, as those of a capture.
func (c caller) syns(n int) [][]byte {
	frames, memory := make([][]byte, n), []byte(nil)
	for i := range frames {
		f := c.syn(i)
		if memory == nil {
			memory = make([]byte, 0, n*len(f))
		}
		at := len(memory)
		memory = append(memory, f...)
		frames[i] = memory[at:len(memory):len(memory)]
	}
	return frames
}

// capture writes frames to a file, filled up to the 60 bytes that a wire demands.
func capture(path string, frames [][]byte) error {
	w, err := pcap.Create(path)
	if err != nil {
		return err
	}
	for _, f := range frames {
		f = append(make([]byte, 0, 60), f...)
		if err := w.Write(pcap.Record{Data: f[:60], OrigLen: 60}); err != nil {
			return err
		}
	}
	return w.Close()
}
