package simbackend_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// reference is the simulator's slow twin for stateless programs over IPv4: it decodes frames with gopacket, keeps fields in a map,
// looks at every rule of a table, and writes frames anew with all checksums computed in full.
type reference struct {
	flows []openflow.Flow
	ports []openflow.PortNo
	seen  []uint64 // frames by flow
}

// walker is one frame on its way through a reference.
type walker struct {
	*reference
	frame   gopacket.Packet
	fields  map[openflow.Field]openflow.Value
	stack   []openflow.Value
	exited  bool
	outputs []datapath.Output
}

func (r *reference) receive(in datapath.Injection) []datapath.Output {
	w := &walker{reference: r, frame: gopacket.NewPacket(in.Frame, layers.LayerTypeEthernet, gopacket.Default)}
	w.decode()
	w.fields[openflow.InPort] = openflow.U64(uint64(in.InPort))
	w.table(0)
	return w.outputs
}

func (w *walker) decode() {
	w.fields = map[openflow.Field]openflow.Value{}
	number := func(f openflow.Field, v uint64) { w.fields[f] = openflow.U64(v) }
	address := func(f openflow.Field, b []byte) { number(f, uint64(binary.BigEndian.Uint32(b))) }
	eth := w.frame.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	w.fields[openflow.EthSrc], w.fields[openflow.EthDst] = openflow.MAC([6]byte(eth.SrcMAC)), openflow.MAC([6]byte(eth.DstMAC))
	number(openflow.EthType, uint64(eth.EthernetType))
	ip := w.frame.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	address(openflow.IPSrc, ip.SrcIP.To4())
	address(openflow.IPDst, ip.DstIP.To4())
	number(openflow.IPProto, uint64(ip.Protocol))
	number(openflow.IPTTL, uint64(ip.TTL))
	switch l := w.frame.TransportLayer().(type) {
	case *layers.TCP:
		number(openflow.TCPSrc, uint64(l.SrcPort))
		number(openflow.TCPDst, uint64(l.DstPort))
	case *layers.UDP:
		number(openflow.UDPSrc, uint64(l.SrcPort))
		number(openflow.UDPDst, uint64(l.DstPort))
	}
	for f := openflow.Reg0; f <= openflow.Reg3; f++ {
		number(f, 0)
	}
}

// encode writes the frame anew from the fields.
func (w *walker) encode() []byte {
	number := func(f openflow.Field) uint64 { return w.fields[f].Lo }
	eth := *w.frame.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	ip := *w.frame.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	mac := func(f openflow.Field) []byte { return binary.BigEndian.AppendUint64(nil, number(f))[2:] }
	address := func(f openflow.Field) []byte { return binary.BigEndian.AppendUint32(nil, uint32(number(f))) }
	eth.SrcMAC, eth.DstMAC = mac(openflow.EthSrc), mac(openflow.EthDst)
	ip.SrcIP, ip.DstIP, ip.TTL = address(openflow.IPSrc), address(openflow.IPDst), uint8(number(openflow.IPTTL))
	parts := []gopacket.SerializableLayer{&eth, &ip}
	switch l := w.frame.TransportLayer().(type) {
	case *layers.TCP:
		tcp := *l
		tcp.SrcPort, tcp.DstPort = layers.TCPPort(number(openflow.TCPSrc)), layers.TCPPort(number(openflow.TCPDst))
		tcp.SetNetworkLayerForChecksum(&ip)
		parts = append(parts, &tcp, gopacket.Payload(l.Payload))
	case *layers.UDP:
		udp := *l
		udp.SrcPort, udp.DstPort = layers.UDPPort(number(openflow.UDPSrc)), layers.UDPPort(number(openflow.UDPDst))
		udp.SetNetworkLayerForChecksum(&ip)
		parts = append(parts, &udp, gopacket.Payload(l.Payload))
	default:
		parts = append(parts, gopacket.Payload(ip.Payload))
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{ComputeChecksums: true}, parts...); err != nil {
		panic(err)
	}
	return b.Bytes()[:len(w.frame.Data())] // without the padding of short frames
}

func (w *walker) table(id openflow.TableID) {
	best := -1
	for i, f := range w.flows {
		if f.Table == id && w.satisfies(f.Match) && (best < 0 || f.Priority > w.flows[best].Priority) {
			best = i
		}
	}
	if best >= 0 {
		w.seen[best]++
		w.run(w.flows[best].Actions)
	}
}

func (w *walker) satisfies(m openflow.Match) bool {
	for _, t := range m.Terms() {
		if v, ok := w.fields[t.Field]; !ok || v.And(t.Mask) != t.Value {
			return false
		}
	}
	return true
}

func (w *walker) run(actions []openflow.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case openflow.Output:
			w.output(a.Port)
		case openflow.OutputField:
			w.output(openflow.PortNo(w.get(a.Src).Lo))
		case openflow.SetField:
			w.set(a.Field, a.Value, a.Mask)
		case openflow.Move:
			if w.has(a.Src.Field) && w.has(a.Dst.Field) {
				w.set(a.Dst.Field, w.get(a.Src).Shl(int(a.Dst.Offset)), a.Dst.Mask())
			}
		case openflow.Push:
			w.stack = append(w.stack, w.get(a.Src))
		case openflow.Pop:
			if n := len(w.stack); n > 0 {
				w.set(a.Dst.Field, w.stack[n-1].Shl(int(a.Dst.Offset)).And(a.Dst.Mask()), a.Dst.Mask())
				w.stack = w.stack[:n-1]
			}
		case openflow.DecTTL:
			ttl := w.fields[openflow.IPTTL].Lo
			if ttl <= 1 {
				return
			}
			w.fields[openflow.IPTTL] = openflow.U64(ttl - 1)
		case openflow.Resubmit:
			w.table(a.Table)
		case openflow.GotoTable:
			w.table(a.Table)
			return
		case openflow.Exit:
			w.exited = true
		default:
			panic(fmt.Sprintf("reference: %v", a))
		}
		if w.exited {
			return
		}
	}
}

func (w *walker) has(f openflow.Field) bool { _, ok := w.fields[f]; return ok }

func (w *walker) get(s openflow.Subfield) openflow.Value {
	return w.fields[s.Field].Shr(int(s.Offset)).And(openflow.Ones(int(s.Width)))
}

func (w *walker) set(f openflow.Field, v, mask openflow.Value) {
	if w.has(f) {
		w.fields[f] = w.fields[f].AndNot(mask).Or(v.And(mask))
	}
}

func (w *walker) output(port openflow.PortNo) {
	own := openflow.PortNo(w.fields[openflow.InPort].Lo)
	if port == openflow.PortIn {
		port = own
	} else if port == own {
		return
	}
	if slices.Contains(w.ports, port) {
		w.outputs = append(w.outputs, datapath.Output{Port: port, Frame: w.encode()})
	}
}

// TestAgreesWithReference runs random programs on random frames.
func TestAgreesWithReference(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := dice{rand.New(rand.NewPCG(seed, 7))}
			program := g.program(t)
			sw := programmed(t, labPorts, program)
			twin := &reference{flows: slices.Collect(program.All()), seen: make([]uint64, program.Len())}
			for _, p := range labPorts {
				twin.ports = append(twin.ports, p.Number)
			}
			for range 60 {
				in := datapath.Injection{InPort: g.port(), Frame: g.frame()}
				require.Equal(t, twin.receive(in), outputs(sw, in), "%v\n%x", program, in.Frame)
			}
			entries, err := sw.Flows(t.Context())
			require.NoError(t, err)
			for i, e := range entries {
				require.Equal(t, twin.seen[i], e.Packets, e.String())
			}
		})
	}
}
