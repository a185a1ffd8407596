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

// configure puts bridge, ports and their addresses in order. Doing it again changes nothing.
func (b *Bridge) configure(ctx context.Context, db *database) error {
	b.repair.Lock()
	defer b.repair.Unlock()
	have, err := db.contents(ctx)
	if err != nil {
		return unavailable(ctx, "configure", err)
	}
	kind := datapathType(b.config, have)
	changes, err := plan(db, have, b.config, kind)
	if err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	if err := db.commit(ctx, have, changes); err != nil {
		return unavailable(ctx, "configure", err)
	}
	if have, err = db.contents(ctx); err != nil {
		return unavailable(ctx, "configure", err)
	}
	b.mu.Lock()
	b.info.Datapath, b.info.PortProblems = typeName(kind), portProblems(b.config.Ports, have)
	b.mu.Unlock()
	return b.host.setUp(b.config.Ports)
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
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.config.Ports {
		if c.Name == p.Name && uint32(c.Number) == p.Number {
			b.info.PortProblems = maps.Clone(b.info.PortProblems) // others may be reading the old one
			delete(b.info.PortProblems, p.Name)
		}
	}
}

// watchDatabase notes the end of a connection to ovs-vswitchd's database and makes a new one. What the
// database then says may be something else, so everything is put in order and looked at again.
func (b *Bridge) watchDatabase(db *database) {
	for db != nil {
		select {
		case <-b.life.Done():
			db.Close()
			return
		case <-db.lost:
		}
		b.link.suspend()
		db.Close()
		db = retry(b, func(ctx context.Context) (*database, error) {
			db, err := openDatabase(ctx, b.config.Database)
			if err != nil {
				return nil, err
			}
			if err := b.configure(ctx, db); err != nil {
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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.info.HostProblem = err
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
