package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"

	"hpnn/model"
)

// addresses asks the node for its own: it answers ARP and ping out of rules, its kernel holds none of them.
func (v *verifier) addresses(ctx context.Context) {
	for _, m := range v.machines {
		if m.Role != Client {
			continue
		}
		s, _ := v.topology.Segment(m.Segment)
		own := []netip.Addr{s.Gateway.Address}
		for _, l := range v.topology.Listeners {
			if s.Prefix.Contains(l.VIP) {
				own = append(own, l.VIP)
			}
		}
		for _, a := range own {
			ttl, took := ping(ctx, m, a, patience)
			mac := v.neighbour(m, a)
			v.check(ttl == "64" && mac == s.Gateway.MAC.String(), fmt.Sprintf("ping %v from %s", a, m.Name),
				fmt.Sprintf("ttl %s, %s ms, at %s", ttl, took, mac), fmt.Sprintf("ttl 64, at %v", s.Gateway.MAC))
		}
	}
	if a, ok := v.listener(model.Private); ok {
		public, ok := v.listener(model.Public)
		if ok {
			ttl, _ := ping(ctx, public.from, a.VIP, 2*time.Second)
			v.check(ttl == "", fmt.Sprintf("ping %v, a private VIP, from %s", a.VIP, public.from.Name), orNone(ttl), "no answer")
		}
	}
}

// kernel looks at what the node's kernel does by itself: it must forward nothing.
func (v *verifier) kernel() {
	var counts map[string]string
	err := v.node.do(func() error {
		text, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err == nil {
			counts, err = readIP(string(text))
		}
		return err
	})
	if v.must(err, "counters of the node's kernel") {
		const forwards = "1" // of Forwarding, as RFC 1213 has it
		v.check(counts["Forwarding"] != forwards && counts["ForwDatagrams"] == "0", "packets that the node's kernel forwarded",
			fmt.Sprintf("%s, ip_forward %v", counts["ForwDatagrams"], counts["Forwarding"] == forwards), "0, ip_forward false")
	}
}

// readIP reads the counters of IP, a line of names and one of values, of /proc/net/snmp.
func readIP(text string) (map[string]string, error) {
	var lines [][]string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Ip: "); ok {
			lines = append(lines, strings.Fields(rest))
		}
	}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return nil, errors.New("read /proc/net/snmp: it has no counters of IP")
	}
	counts := map[string]string{}
	for i, name := range lines[0] {
		counts[name] = lines[1][i]
	}
	return counts, nil
}

func orNone(ttl string) string {
	if ttl == "" {
		return "no answer"
	}
	return "ttl " + ttl
}

var pingReply = regexp.MustCompile(`ttl=(\d+) time=([0-9.]+) ms`)

// ping runs the container's own program. The TTL is empty if nothing answers within a time.
func ping(ctx context.Context, m Machine, a netip.Addr, within time.Duration) (ttl, took string) {
	wait := fmt.Sprint(int(within.Seconds()))
	out, _ := engine(ctx, "exec", m.Container, "ping", "-n", "-c", "1", "-W", wait, a.String()) // no answer is an error too
	if found := pingReply.FindStringSubmatch(out); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// neighbour is the MAC that a machine's kernel has learned.
func (v *verifier) neighbour(m Machine, a netip.Addr) string {
	s := v.spaces[m.Name]
	link, err := s.handle.LinkByName(card)
	if err != nil {
		return err.Error()
	}
	all, err := s.handle.NeighList(link.Attrs().Index, 2) // AF_INET
	if err != nil {
		return err.Error()
	}
	for _, n := range all {
		if n.IP.String() == a.String() {
			return n.HardwareAddr.String()
		}
	}
	return "no neighbour"
}

// routing asks members past the VIPs, from another segment, and the provider's gateway.
func (v *verifier) routing(ctx context.Context) {
	backends := v.backends()
	if public, ok := v.listener(model.Public); ok {
		for _, to := range []Machine{backends[0], backends[len(backends)-1]} {
			v.direct(public.from, to)
		}
	}
	for _, to := range backends {
		if to.Segment != backends[0].Segment {
			v.direct(backends[0], to)
			break
		}
	}
	for _, g := range v.machines {
		if g.Role == Gateway && g.Segment == backends[0].Segment {
			ttl, took := ping(ctx, g, backends[0].Address.Addr(), patience)
			v.check(ttl == "64", fmt.Sprintf("ping %s from %s, through the uplink", backends[0].Name, g.Name), strings.TrimSpace(orNone(ttl)+", "+took+" ms"), "ttl 64")
		}
	}
	v.kernel()
}

func (v *verifier) direct(from, to Machine) {
	url := fmt.Sprintf("http://%v:%d/", to.Address.Addr(), to.Serves[0])
	l := v.spaces[from.Name].ask(url, 4)
	ok := len(l.failed) == 0
	for _, a := range l.answers {
		ok = ok && a.backend == to.Name && a.client == from.Address.Addr().String()
	}
	v.check(ok, fmt.Sprintf("4 requests from %s to %s", from.Name, url), l.text(), "of "+to.Name+", none failed")
}

func (v *verifier) backends() (all []Machine) {
	for _, m := range v.machines {
		if m.Role == Backend {
			all = append(all, m)
		}
	}
	return all
}
