package ovsbackend

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/ovn-org/libovsdb/cache"
	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"
)

// The rows of the Open_vSwitch database that matter here (ovs-vswitchd.conf.db(5)).
type (
	rootRow struct {
		UUID    string   `ovsdb:"_uuid"`
		Bridges []string `ovsdb:"bridges"`
		NextCfg int      `ovsdb:"next_cfg"`
		CurCfg  int      `ovsdb:"cur_cfg"`
	}
	bridgeRow struct {
		UUID         string   `ovsdb:"_uuid"`
		Name         string   `ovsdb:"name"`
		Ports        []string `ovsdb:"ports"`
		FailMode     *string  `ovsdb:"fail_mode"`
		Protocols    []string `ovsdb:"protocols"`
		DatapathType string   `ovsdb:"datapath_type"`
	}
	portRow struct {
		UUID       string   `ovsdb:"_uuid"`
		Name       string   `ovsdb:"name"`
		Interfaces []string `ovsdb:"interfaces"`
	}
	interfaceRow struct {
		UUID          string  `ovsdb:"_uuid"`
		Name          string  `ovsdb:"name"`
		Type          string  `ovsdb:"type"`
		OfportRequest *int    `ovsdb:"ofport_request"`
		Ofport        *int    `ovsdb:"ofport"`
		MAC           *string `ovsdb:"mac"`
		Error         *string `ovsdb:"error"`
	}
)

// database is a connection to ovsdb-server with a copy of the tables above.
type database struct {
	client.Client
	lost    chan struct{} // closed when the connection has ended
	changed chan struct{} // holds one when a bridge, a port or a device has changed
}

const configPoll = 2 * time.Millisecond

func openDatabase(ctx context.Context, address string) (*database, error) {
	schema, err := model.NewClientDBModel("Open_vSwitch", map[string]model.Model{
		"Open_vSwitch": &rootRow{}, "Bridge": &bridgeRow{}, "Port": &portRow{}, "Interface": &interfaceRow{}})
	if err != nil {
		return nil, fmt.Errorf("describe the tables: %w", err)
	}
	silent := logr.Discard()
	c, err := client.NewOVSDBClient(schema, client.WithEndpoint(address), client.WithLogger(&silent))
	if err != nil {
		return nil, err
	}
	d := &database{c, make(chan struct{}), make(chan struct{}, 1)}
	failed := make(chan struct{})
	go d.watch(failed) // from the beginning on: the library tells the end to who listens then
	if err := d.connect(ctx); err != nil {
		close(failed)
		c.Close()
		return nil, err
	}
	return d, nil
}

func (d *database) watch(failed <-chan struct{}) {
	select {
	case <-d.DisconnectNotify():
		close(d.lost)
	case <-failed:
	}
}

// connect connects and fetches the tables. The columns are named, for the library stumbles over changes
// of others.
func (d *database) connect(ctx context.Context) error {
	if err := d.Connect(ctx); err != nil {
		return err
	}
	var root rootRow
	var b bridgeRow
	var p portRow
	var i interfaceRow
	_, err := d.Monitor(ctx, d.NewMonitor(
		client.WithTable(&root, &root.Bridges, &root.NextCfg, &root.CurCfg),
		client.WithTable(&b, &b.Name, &b.Ports, &b.FailMode, &b.Protocols, &b.DatapathType),
		client.WithTable(&p, &p.Name, &p.Interfaces),
		client.WithTable(&i, &i.Name, &i.Type, &i.OfportRequest, &i.Ofport, &i.MAC, &i.Error)))
	if err != nil {
		return fmt.Errorf("monitor the tables: %w", err)
	}
	d.Cache().AddEventHandler(&cache.EventHandlerFuncs{
		AddFunc:    func(table string, _ model.Model) { d.note(table) },
		UpdateFunc: func(table string, _, _ model.Model) { d.note(table) },
		DeleteFunc: func(table string, _ model.Model) { d.note(table) },
	})
	return nil
}

// note takes notice of a change. Counts of changes, which are all that the root table has besides, are none.
func (d *database) note(table string) {
	if table == "Open_vSwitch" {
		return
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// contents are the tables at one moment.
type contents struct {
	root       rootRow
	bridges    []bridgeRow
	ports      []portRow
	interfaces []interfaceRow
}

func (d *database) contents(ctx context.Context) (c contents, err error) {
	var roots []rootRow
	for _, list := range []any{&roots, &c.bridges, &c.ports, &c.interfaces} {
		if err := d.List(ctx, list); err != nil {
			return c, fmt.Errorf("read the database: %w", err)
		}
	}
	if len(roots) != 1 {
		return c, fmt.Errorf("read the database: %d rows in table Open_vSwitch, not 1: has it been set up (ovs-vsctl init)?", len(roots))
	}
	c.root = roots[0]
	return c, nil
}

// commit makes changes, if there are any, and returns when ovs-vswitchd has taken them over.
func (d *database) commit(ctx context.Context, c contents, changes []ovsdb.Operation) error {
	if len(changes) == 0 {
		return nil
	}
	count, err := d.Where(&c.root).Mutate(&c.root, model.Mutation{Field: &c.root.NextCfg, Mutator: ovsdb.MutateOperationAdd, Value: 1})
	if err != nil {
		return fmt.Errorf("count the change: %w", err)
	}
	changes = append(append(changes, count...), ovsdb.Operation{Op: ovsdb.OperationSelect, Table: "Open_vSwitch", Columns: []string{"next_cfg"}})
	results, err := d.Transact(ctx, changes...)
	if err != nil {
		return fmt.Errorf("change the database: %w", err)
	}
	if faults, err := ovsdb.CheckOperationResults(results, changes); err != nil {
		return fmt.Errorf("change the database: %w: %v", err, faults)
	}
	next, ok := results[len(results)-1].Rows[0]["next_cfg"].(float64)
	if !ok {
		return fmt.Errorf("change the database: next_cfg is %v", results[len(results)-1].Rows)
	}
	return d.awaitConfig(ctx, int(next))
}

// awaitConfig waits until ovs-vswitchd has taken over change number next.
func (d *database) awaitConfig(ctx context.Context, next int) error {
	tick := time.NewTicker(configPoll)
	defer tick.Stop()
	for {
		c, err := d.contents(ctx)
		switch {
		case err != nil:
			return err
		case c.root.CurCfg >= next:
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("await that ovs-vswitchd takes over change %d of its configuration; it is at %d, does it run?: %w",
				next, c.root.CurCfg, context.Cause(ctx))
		}
	}
}
