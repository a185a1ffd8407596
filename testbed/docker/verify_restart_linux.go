package docker

import (
	"context"
	"fmt"
	"time"
)

// patience is for programs and containers to come back on a machine that is busy.
const patience = 60 * time.Second

// restarts ends programs of the node, then containers.
func (v *verifier) restarts(ctx context.Context) {
	for _, program := range []string{"hcd", "ovs-vswitchd"} {
		v.kill(ctx, program)
	}
	last := v.backends()[len(v.backends())-1]
	v.restart(ctx, last.Name, last.Container, func(st status) string {
		if m := st.Pools[0].Members[st.Pools[0].member(last.Name)]; m.InPool {
			return last.Name + " is still in"
		}
		return ""
	})
	v.restart(ctx, "the node", v.topology.Node.Name, nil)
}

// kill ends a program as kill -9 does. Without hcd traffic goes on; without the switch it stands still until that is back.
func (v *verifier) kill(ctx context.Context, program string) {
	find := fmt.Sprintf(`for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = %s ] && kill -9 ${p#/proc/}; done; true`, program)
	if _, err := engine(ctx, "exec", v.topology.Node.Name, "sh", "-c", find); !v.must(err, "kill "+program) {
		return
	}
	a, begun := v.public(), time.Now()
	if program == "hcd" {
		l := v.spaces[a.from.Name].ask(a.url, requests/4)
		v.check(len(l.failed) == 0, "requests while hcd is dead and comes back", l.text(), "none failed")
	}
	err := v.awaitAll(ctx, patience)
	v.check(err == nil, "all members are up after kill -9 of "+program, fmt.Sprintf("%s %s", seconds(time.Since(begun)), reason(err)), "")
	v.digest(ctx, "after kill -9 of "+program)
	l := v.spaces[a.from.Name].ask(a.url, requests/4)
	v.check(len(l.failed) == 0, "requests after kill -9 of "+program, l.text(), "none failed")
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// restart restarts a container, which takes its wires away, and attaches it again.
func (v *verifier) restart(ctx context.Context, what, container string, noticed func(status) string) {
	if _, err := engine(ctx, "restart", "--time", "3", container); !v.must(err, "docker restart") {
		return
	}
	if noticed != nil {
		v.check(v.await(ctx, patience, noticed) == nil, what+" without its wire is out", "yes", "")
	}
	attached, err := Attach(ctx, v.topology, "")
	if !v.must(err, "attach") || !v.must(v.enter(ctx), "enter") {
		return
	}
	fresh := 0
	for _, a := range attached {
		if a.Fresh {
			fresh++
		}
	}
	begun := time.Now()
	err = v.awaitAll(ctx, patience)
	v.check(err == nil, fmt.Sprintf("all members are up after docker restart of %s", what), fmt.Sprintf("%s, %d wires new %s", seconds(time.Since(begun)), fresh, reason(err)), "")
	v.digest(ctx, "after the restart of "+what)
	a := v.public()
	l := v.spaces[a.from.Name].ask(a.url, requests/4)
	v.check(len(l.failed) == 0, "requests after the restart of "+what, l.text(), "none failed")
}
