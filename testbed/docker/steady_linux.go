package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// patience is for members, programs and containers to come back, and for a request, on a machine that is busy.
const patience = time.Minute

// tries is how often something is measured on a machine so busy that members come and go by themselves.
const tries = 4

// steady measures while nothing is missing and no member changes its state. On a machine that is busy probes may come too
// late; then a member goes out and its connections end, which is right, and what was measured meanwhile tells nothing. It
// returns false, having failed the report, if nothing could be measured.
func (v *verifier) steady(ctx context.Context, missing func(status) string, measure func()) bool {
	for range tries {
		before, err := v.await(ctx, missing)
		if !v.must(err, "wait before it is measured") {
			return false
		}
		measure()
		after, err := v.node.status(ctx)
		if !v.must(err, "ask hcd") {
			return false
		}
		flapped := changed(before, after)
		if flapped == "" {
			break
		}
		v.note("once more: " + flapped + " changed its state meanwhile, is the machine busy?")
	}
	return true
}

// changed names the members that are not as they were.
func changed(before, after status) string {
	was := map[string]member{}
	for _, p := range before.Pools {
		for _, m := range p.Members {
			was[p.Name+"/"+m.Name] = m
		}
	}
	var names []string
	for _, p := range after.Pools {
		for _, m := range p.Members {
			if b := was[p.Name+"/"+m.Name]; b.Up != m.Up || !b.Since.Equal(m.Since) {
				names = append(names, m.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// await asks hcd until nothing is missing, and returns the status that lacked nothing.
func (v *verifier) await(ctx context.Context, missing func(status) string) (status, error) {
	if v.node == nil {
		return status{}, errors.New("the node's namespace is not open")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return v.node.await(ctx, missing)
}

// complete lacks nothing if every member is up, has slots and the switch holds the rules.
func complete(st status) string {
	if what := st.missing(); what != "" {
		return what
	}
	for _, p := range st.Pools {
		for _, m := range p.Members {
			if !m.InPool {
				return fmt.Sprintf("member %s is %s and not in pool %s", m.Name, m.Admin, p.Name)
			}
		}
	}
	return ""
}

// gone lacks nothing if a member of the first pool is out of it, in the switch too.
func gone(name string) func(status) string {
	return func(st status) string {
		p := st.Pools[0]
		if m := p.Members[p.member(name)]; m.InPool || m.Slots > 0 {
			return name + " still has slots"
		}
		if !st.Control.InSync {
			return "the switch does not hold the rules yet: " + st.Control.Failure
		}
		return ""
	}
}

// without lacks nothing if a member of the first pool is gone and all others are in it.
func without(name string) func(status) string {
	return func(st status) string {
		if p := st.Pools[0]; p.Live != len(p.Members)-1 {
			return fmt.Sprintf("%d members are live, not all but %s", p.Live, name)
		}
		return gone(name)(st)
	}
}
