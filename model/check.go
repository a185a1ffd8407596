package model

import (
	"fmt"
	"net/netip"
	"strings"
)

// Validate returns what is wrong with t as [Faults] without places, or nil. A topology built in Go goes through
// [WithDefaults] first. A valid topology always renders.
func Validate(t Topology) error {
	return rules(&t).orNil()
}

// rules applies every rule: first those of single fields, which the tables of keys hold, then those between fields.
func rules(t *Topology) Faults {
	c := &checker{directory: newDirectory(t), rejected: map[string]bool{}, located: true}
	for _, h := range t.Hosts {
		c.located = c.located && h.Address.IsValid()
	}
	topologyKeys.check(c, "", t)
	checkSegments(c)
	checkPorts(c)
	checkAddresses(c)
	checkHosts(c)
	checkRoutes(c)
	checkPools(c)
	checkListeners(c)
	return c.faults
}

// A checker collects the faults of one topology. A rule between fields keeps quiet about values that are themselves at fault.
type checker struct {
	directory
	faults   Faults
	rejected map[string]bool // paths of the faults
	located  bool            // every host has an address; otherwise none can be called missing
}

// reject records a complaint about path, unless it is nil.
func (c *checker) reject(path string, wrong *complaint) {
	if wrong != nil {
		c.rejected[path] = true
		c.faults = append(c.faults, Fault{Path: path, Problem: wrong.problem, Remedy: wrong.remedy})
	}
}

// fault records a complaint about path.
func (c *checker) fault(path, remedy, problem string, args ...any) {
	c.reject(path, complain(remedy, problem, args...))
}

// A claim is a value that only one field may have.
type claim[V comparable] struct {
	path  string
	value V
}

// unique faults every claim whose value an earlier one has.
func unique[V comparable](c *checker, remedy string, claims []claim[V]) {
	var unset V
	first := map[V]string{}
	for _, each := range claims {
		if each.value == unset || c.rejected[each.path] {
			continue
		}
		if path, taken := first[each.value]; taken {
			c.fault(each.path, remedy, "%v is already %s", each.value, path)
			continue
		}
		first[each.value] = each.path
	}
}

// claims returns one field of every element of a list.
func claims[T any, V comparable](path, key string, list []T, of func(T) V) []claim[V] {
	all := make([]claim[V], len(list))
	for i, each := range list {
		all[i] = claim[V]{join(item(path, i), key), of(each)}
	}
	return all
}

// checkWithin faults an address that is no host address of the segment.
func checkWithin(c *checker, path string, a netip.Addr, s Segment) {
	p := s.Prefix
	if !a.Is4() || !p.Addr().Is4() || p.Bits() > longest || c.rejected[path] {
		return
	}
	switch {
	case !p.Contains(a):
		c.fault(path, "use an address of "+p.Masked().String(), "%s is outside the prefix of segment %s", a, s.Name)
	case a == p.Masked().Addr():
		c.fault(path, "use another address", "%s is the network address of %s", a, p.Masked())
	case a == broadcast(p):
		c.fault(path, "use another address", "%s is the broadcast address of %s", a, p.Masked())
	}
}

// broadcast returns the last address of an IPv4 prefix.
func broadcast(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	return netip.AddrFrom4(b)
}

// reference faults a name that the roster does not have.
func (c *checker) reference(path, name string, r roster) {
	if name == "" || !r.complete || r.known[name] {
		return
	}
	const few = 200 // names that are compared letter by letter
	meant := ""
	if len(r.names) <= few {
		meant = nearest(name, r.names)
	}
	remedy := "declare it"
	if meant != "" && (len(name) > 3 || strings.EqualFold(name, meant)) {
		remedy = fmt.Sprintf("did you mean %q?", meant)
	} else if 0 < len(r.names) && len(r.names) <= 8 {
		remedy = "declare it, or use " + listing(r.names)
	}
	c.fault(path, remedy, "there is no %s %q", r.what, name)
}
