package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/simbackend"
)

// account follows frame after frame and writes the report.
type account struct {
	Report
	node    Node
	ports   byPort[PortReport]
	members *members
	drops   drops

	now     time.Duration
	current frame
}

// frame is the frame being executed and what has left because of it.
type frame struct {
	datapath.Injection
	headers
	outs     int
	port     openflow.PortNo // of the first that left
	several  bool            // another left by another port
	answered uint16          // Ethernet type of a reply that went back to the sender; 0: none
}

func newAccount(n Node) *account {
	a := &account{node: n, members: newMembers(n)}
	for _, p := range n.Ports {
		a.ports.set(p.Number, &PortReport{Name: p.Name, Number: p.Number})
	}
	return a
}

func (a *account) port(number openflow.PortNo) *PortReport {
	p := a.ports.get(number)
	if p == nil {
		p = &PortReport{Name: a.node.PortName(number), Number: number}
		a.ports.set(number, p)
	}
	return p
}

// begin notes a frame that comes in.
func (a *account) begin(start int64, now time.Duration, in datapath.Injection, snapped bool) {
	if a.In.Frames == 0 {
		a.Start = time.Unix(0, start).UTC()
	}
	a.now, a.Duration = now, now
	a.current = frame{Injection: in, headers: parse(in.Frame)}
	a.In.add(len(in.Frame))
	a.port(in.InPort).In.add(len(in.Frame))
	if snapped {
		a.Snapped++
	}
}

// left notes a frame that leaves because of it.
func (a *account) left(o datapath.Output) {
	a.Out.add(len(o.Frame))
	a.port(o.Port).Out.add(len(o.Frame))
	out := parse(o.Frame)
	a.members.pass(a.now, &a.current.headers, &out, len(o.Frame))
	a.current.left(o, &out)
}

func (f *frame) left(o datapath.Output, out *headers) {
	if f.outs++; f.outs == 1 {
		f.port = o.Port
	}
	f.several = f.several || o.Port != f.port
	if out.reply && !f.reply && o.Port == f.InPort && bytes.Equal(o.Frame[:6], f.Frame[6:12]) {
		f.answered = out.etherType
	}
}

// ethernetHeader is the least a port delivers, bytes.
const ethernetHeader = 14

// end counts the frame by what became of it. The verdict may be nil if something left.
func (a *account) end(v *simbackend.Verdict, at *Frame) (Fate, Reason) {
	fate, why := a.current.fate(v), Reason("")
	a.Fates.add(fate)
	if fate == Dropped || fate == Punted {
		why = reason(v, len(at.Data))
		a.drops.add(v, why, at, &a.node)
		if why != Runt && a.node.sent(at.Port, packet.MAC(at.Data[6:12])) {
			a.Own++
		}
	}
	return fate, why
}

func (f *frame) fate(v *simbackend.Verdict) Fate {
	switch {
	case f.answered == packet.TypeARP:
		return AnsweredARP
	case f.answered != 0:
		return AnsweredPing
	case f.several:
		return Flooded
	case f.outs > 0:
		return Forwarded
	case waits(v):
		return Held
	case v.PacketIns > 0 && v.Err == nil:
		return Punted
	}
	return Dropped
}

// report completes the report from the switches' state.
func (a *account) report(ctx context.Context, sw switches) (Report, error) {
	r := a.Report
	for _, p := range a.ports.all() {
		r.Ports = append(r.Ports, *p)
	}
	r.Members, r.Drops = a.members.reports, a.drops.report(a.node)
	var err error
	if r.Flows, err = sw.Flows(ctx); err != nil {
		return Report{}, err
	}
	if r.Tracked, err = sw.Connections(ctx); err != nil {
		return Report{}, err
	}
	r.Learned, r.Connections = a.node.learned(r.Flows), a.node.connections(r.Tracked)
	return r, nil
}

// learned lists the flows that are not of the program, by table.
func (n Node) learned(flows []openflow.FlowEntry) []Learned {
	list := []Learned{}
	for _, f := range flows {
		if _, own := n.Program.Get(f.Flow.Key()); own {
			continue
		}
		if len(list) == 0 || list[len(list)-1].Table != f.Table {
			l := Learned{Table: f.Table}
			if t, ok := n.Table(f.Table); ok {
				l.Name = t.Name
			}
			list = append(list, l)
		}
		last := &list[len(list)-1]
		last.Flows = append(last.Flows, f.Flow.String())
	}
	return list
}

// connections counts connections by zone, protocol and state.
func (n Node) connections(conns []datapath.Conn) []Connections {
	counts := map[Connections]int{}
	for _, c := range conns {
		counts[Connections{Zone: c.Zone, ZoneName: n.ZoneName(c.Zone), Protocol: protocol(c.Orig.Proto), State: c.State}]++
	}
	list := []Connections{}
	for c, count := range counts {
		c.Count = count
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y Connections) int {
		return cmp.Or(cmp.Compare(x.Zone, y.Zone), cmp.Compare(x.Protocol, y.Protocol), cmp.Compare(x.State, y.State))
	})
	return list
}

func protocol(p uint8) string {
	switch p {
	case packet.ProtoICMP:
		return "icmp"
	case packet.ProtoTCP:
		return "tcp"
	case packet.ProtoUDP:
		return "udp"
	}
	return fmt.Sprint(p)
}
