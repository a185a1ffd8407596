package ovsbackend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"

	"hpnn/datapath"
	"hpnn/internal/ovsproto"
)

// configure puts bridge, ports and their addresses in order, and says whether the database had to change for that. Doing it
// again changes nothing.
func (b *Bridge) configure(ctx context.Context, db *database) (changed bool, err error) {
	b.repair.Lock()
	defer b.repair.Unlock()
	have, err := db.contents(ctx)
	if err != nil {
		return false, unavailable(ctx, "configure", err)
	}
	kind := datapathType(b.config, have)
	changes, err := plan(db, have, b.config, kind)
	if err != nil {
		return false, fmt.Errorf("configure: %w", err)
	}
	if err := db.commit(ctx, have, changes); err != nil {
		return true, unavailable(ctx, "configure", err)
	}
	if have, err = db.contents(ctx); err != nil {
		return true, unavailable(ctx, "configure", err)
	}
	b.note(func(i *Info) { i.Datapath, i.PortProblems = typeName(kind), portProblems(b.config.Ports, have) })
	return len(changes) > 0, b.host.setUp(b.config.Ports)
}

// datapathType is the one the bridge has or is to have.
func datapathType(c Config, have contents) string {
	if c.DatapathType != "" {
		return c.DatapathType
	}
	if b, there := have.bridge(c.Bridge); there {
		return b.DatapathType
	}
	if kernelHasDatapath() {
		return "system"
	}
	return "netdev"
}

// kernelHasDatapath tells whether the kernel's module is loaded: it registers a netlink family.
func kernelHasDatapath() bool {
	_, err := netlink.GenlFamilyGet("ovs_datapath")
	return err == nil
}

// portProblems says of each port why the switch cannot use it as configured, if so. It tries again by
// itself when a device appears.
func portProblems(ports []PortConfig, have contents) map[string]string {
	problems := map[string]string{}
	for _, p := range ports {
		d, ok := have.device(p.Name)
		switch {
		case !ok:
			problems[p.Name] = "it is missing"
		case d.Error != nil:
			problems[p.Name] = *d.Error
		case d.Ofport == nil || *d.Ofport != int(p.Number):
			problems[p.Name] = fmt.Sprintf("it does not have number %d: another port has it, or the device is missing", p.Number)
		}
	}
	return problems
}

// portChanged forgets the problem of a port that has appeared under its number.
func (b *Bridge) portChanged(p ovsproto.Port) {
	for _, c := range b.config.Ports {
		if c.Name == p.Name && uint32(c.Number) == p.Number {
			b.note(func(i *Info) {
				i.PortProblems = maps.Clone(i.PortProblems) // others may be reading the old one
				delete(i.PortProblems, p.Name)
			})
		}
	}
}

// watchDatabase puts bridge and ports in order again when somebody has changed them. It notes the end of the connection
// to ovs-vswitchd's database and makes a new one. What the database then says may be something else, so everything is put
// in order and looked at again.
func (b *Bridge) watchDatabase(db *database) {
	for db != nil {
		if !b.tidy(db) {
			db.Close()
			return
		}
		b.link.suspend()
		db.Close()
		db = retry(b, func(ctx context.Context) (*database, error) {
			db, err := openDatabase(ctx, b.config.Database)
			if err != nil {
				return nil, err
			}
			if _, err := b.configure(ctx, db); err != nil {
				db.Close()
				return nil, err
			}
			b.link.resume()
			return db, nil
		})
		if db != nil && b.link.isUp() {
			b.events.Put(datapath.Event{Kind: datapath.Connected})
		}
	}
}

const (
	tidyAfter = 200 * time.Millisecond // who makes a port anew may need more than one step
	tidyMost  = 10 * time.Second       // the longest pause, if somebody else wants it otherwise again and again
)

// tidy puts in order what others change in the database, until the connection to it is lost. It returns false when the
// Bridge is closed.
func (b *Bridge) tidy(db *database) (lost bool) {
	pause := tidyAfter
	for {
		select {
		case <-b.life.Done():
			return false
		case <-db.lost:
			return true
		case <-db.changed:
		}
		select {
		case <-b.life.Done():
			return false
		case <-time.After(pause):
		}
		select {
		case <-db.changed:
		default:
		}
		tidied := false
		err := b.do(b.life, "put in order", func(ctx context.Context) (err error) {
			tidied, err = b.configure(ctx, db)
			return err
		})
		b.note(func(i *Info) { i.ConfigProblem = err })
		if tidied && b.link.isUp() { // what has been changed back may have cost flows
			b.events.Put(datapath.Event{Kind: datapath.Connected})
		}
		if pause = min(2*pause, tidyMost); !tidied && err == nil {
			pause = tidyAfter
		}
	}
}

// portsAppear bounds how long a switch that has just started may take to bring up its ports.
const portsAppear = 5 * time.Second

// repairSwitch brings a switch that has started anew into order as far as the database does not: its
// internal ports are new devices without addresses.
func (b *Bridge) repairSwitch() {
	if b.host == nil {
		return
	}
	b.repair.Lock()
	defer b.repair.Unlock()
	ctx, cancel := context.WithTimeout(b.life, portsAppear)
	defer cancel()
	b.awaitPorts(ctx)
	err := b.host.setUp(b.config.Ports)
	b.note(func(i *Info) { i.HostProblem = err })
}

// awaitPorts waits until all internal ports are there, or the time is over.
func (b *Bridge) awaitPorts(ctx context.Context) {
	tick := time.NewTicker(retryMin)
	defer tick.Stop()
	for {
		if ports, err := b.ports(ctx); err == nil && b.internalPortsAmong(ports) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Bridge) internalPortsAmong(ports []datapath.Port) bool {
	there := map[string]bool{}
	for _, p := range ports {
		there[p.Name] = true
	}
	return !slices.ContainsFunc(b.config.Ports, func(p PortConfig) bool { return p.Internal && !there[p.Name] })
}

// versionNumber takes "3.1.0" from "ovs-vswitchd (Open vSwitch) 3.1.0".
func versionNumber(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	words := strings.Fields(first)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
