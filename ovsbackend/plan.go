package ovsbackend

import (
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"

	"hpnn/internal/packet"
)

// protocols are those that a bridge of ours speaks: the tools of different versions prefer different ones.
var protocols = []string{"OpenFlow10", "OpenFlow11", "OpenFlow12", "OpenFlow13", "OpenFlow14", "OpenFlow15"}

// secure: without a controller, a bridge forwards by its flows only.
const secure = "secure"

// bridge finds a bridge by name.
func (c contents) bridge(name string) (bridgeRow, bool) {
	i := slices.IndexFunc(c.bridges, func(b bridgeRow) bool { return b.Name == name })
	if i < 0 {
		return bridgeRow{}, false
	}
	return c.bridges[i], true
}

// port finds a port by name, and the bridge it is on.
func (c contents) port(name string) (p portRow, on string, ok bool) {
	i := slices.IndexFunc(c.ports, func(p portRow) bool { return p.Name == name })
	if i < 0 {
		return portRow{}, "", false
	}
	for _, b := range c.bridges {
		if slices.Contains(b.Ports, c.ports[i].UUID) {
			on = b.Name
		}
	}
	return c.ports[i], on, true
}

// device finds an interface by name.
func (c contents) device(name string) (interfaceRow, bool) {
	i := slices.IndexFunc(c.interfaces, func(d interfaceRow) bool { return d.Name == name })
	if i < 0 {
		return interfaceRow{}, false
	}
	return c.interfaces[i], true
}

// planner gathers the changes that make the database say what the configuration wants.
type planner struct {
	db      *database
	have    contents
	changes []ovsdb.Operation
	err     error // the first
}

// plan is those changes; none if all is as it should be.
func plan(db *database, have contents, c Config, datapathType string) ([]ovsdb.Operation, error) {
	p := &planner{db: db, have: have}
	var added []string
	for i, port := range c.Ports {
		if uuid := p.port(c.Bridge, port, fmt.Sprintf("n%d", i)); uuid != "" {
			added = append(added, uuid)
		}
	}
	p.bridge(c.Bridge, datapathType, added)
	return p.changes, p.err
}

// add takes over operations that the library made.
func (p *planner) add(operations []ovsdb.Operation, err error) {
	if p.err == nil {
		p.err = err
	}
	p.changes = append(p.changes, operations...)
}

func (p *planner) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// bridge creates or changes the bridge and adds ports to it.
func (p *planner) bridge(name, datapathType string, added []string) {
	mode := secure
	want := bridgeRow{UUID: "bridge", Name: name, FailMode: &mode, Protocols: protocols, DatapathType: datapathType}
	have, there := p.have.bridge(name)
	if !there {
		p.create(want, added)
		return
	}
	if typeName(have.DatapathType) != typeName(datapathType) {
		p.fail("bridge %s has datapath type %s, not %s: changing it would interrupt all traffic; "+
			"delete the bridge first, or leave the type open", name, typeName(have.DatapathType), datapathType)
		return
	}
	if have.FailMode == nil || *have.FailMode != secure || !sameElements(have.Protocols, protocols) {
		p.add(p.db.Where(&have).Update(&want, &want.FailMode, &want.Protocols))
	}
	if len(added) > 0 {
		p.add(p.db.Where(&have).Mutate(&have, model.Mutation{Field: &have.Ports, Mutator: ovsdb.MutateOperationInsert, Value: added}))
	}
}

// create makes a bridge with its local port.
func (p *planner) create(b bridgeRow, added []string) {
	device := interfaceRow{UUID: "localdevice", Name: b.Name, Type: "internal"}
	port := portRow{UUID: "localport", Name: b.Name, Interfaces: []string{device.UUID}}
	b.Ports = append([]string{port.UUID}, added...)
	p.add(p.db.Create(&device))
	p.add(p.db.Create(&port))
	p.add(p.db.Create(&b))
	root := p.have.root
	p.add(p.db.Where(&root).Mutate(&root, model.Mutation{Field: &root.Bridges, Mutator: ovsdb.MutateOperationInsert, Value: []string{b.UUID}}))
}

// port creates a port, whose name in the transaction it returns, or changes one that is there.
func (p *planner) port(bridge string, want PortConfig, name string) (added string) {
	number := int(want.Number)
	device := interfaceRow{UUID: name + "device", Name: want.Name, OfportRequest: &number}
	if want.Internal {
		device.Type = "internal"
	}
	if mac := want.MAC.String(); want.MAC != (packet.MAC{}) {
		device.MAC = &mac
	}
	row, on, there := p.have.port(want.Name)
	switch {
	case !there:
		port := portRow{UUID: name + "port", Name: want.Name, Interfaces: []string{device.UUID}}
		p.add(p.db.Create(&device))
		p.add(p.db.Create(&port))
		return port.UUID
	case on != bridge:
		p.fail("port %s is on bridge %q: remove it there first (ovs-vsctl del-port %s)", want.Name, on, row.Name)
	default:
		p.device(want, device)
	}
	return ""
}

// device changes the interface of a port that is there. The kind of a device that is not internal is
// left alone: it may be a tunnel or another that only its owner can describe.
func (p *planner) device(c PortConfig, want interfaceRow) {
	have, ok := p.have.device(c.Name)
	if !ok {
		p.fail("port %s has no interface of its name: bonds are not supported", c.Name)
		return
	}
	var fields []any
	if !same(have.OfportRequest, want.OfportRequest) {
		fields = append(fields, &want.OfportRequest)
	}
	if c.Internal != (have.Type == "internal") {
		fields = append(fields, &want.Type)
	}
	if c.Internal && want.MAC != nil && !same(have.MAC, want.MAC) {
		fields = append(fields, &want.MAC)
	}
	if len(fields) > 0 {
		p.add(p.db.Where(&have).Update(&want, fields...))
	}
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameElements compares sets.
func sameElements(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// typeName is a datapath type with its default filled in.
func typeName(t string) string {
	if t == "" {
		return "system"
	}
	return t
}
