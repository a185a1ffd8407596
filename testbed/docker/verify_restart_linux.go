package docker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// few is how many requests must not fail after something came back.
const few = requests / 4

// programs ends programs of the node. Without hcd traffic goes on; without the switch it stands still until that is back.
func (v *verifier) programs(ctx context.Context) {
	v.kill(ctx, "hcd", func(before, st status) bool { return !st.Started.Equal(before.Started) })
	v.kill(ctx, "ovs-vswitchd", func(before, st status) bool { return st.Control.Commits > before.Control.Commits })
}

// kill ends a program; back tells that what followed from that is over.
func (v *verifier) kill(ctx context.Context, program string, back func(before, now status) bool) {
	before, err := v.await(ctx, complete)
	if !v.must(err, "all members are in") {
		return
	}
	find := fmt.Sprintf(`for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = %s ] && kill -9 ${p#/proc/}; done; true`, program)
	begun := time.Now()
	if _, err := engine(ctx, "exec", v.topology.Node.Name, "sh", "-c", find); !v.must(err, "kill -9 of "+program) {
		return
	}
	if program == "hcd" {
		l := v.ask(v.public(), few)
		v.check(len(l.failed) == 0, fmt.Sprintf("%d requests while hcd is dead and comes back", few), l.text(), "none failed")
	}
	_, err = v.await(ctx, func(st status) string {
		if !back(before, st) {
			return program + " is not back"
		}
		return complete(st)
	})
	if v.must(err, program+" is back") {
		v.check(true, program+" is back, all members are up after", seconds(time.Since(begun)), "")
	}
	v.digest(ctx, "after kill -9 of "+program)
	v.afterwards(ctx, few, "after kill -9 of "+program, "")
}

// containers ends containers. A new one has no wire until it is attached.
func (v *verifier) containers(ctx context.Context) {
	backends, node := v.backends(), v.topology.Node.Name
	killed, restarted := backends[len(backends)/2], backends[len(backends)-1]

	begun := time.Now()
	if _, err := engine(ctx, "kill", killed.Container); v.must(err, "docker kill of "+killed.Name) {
		if _, err := v.await(ctx, gone(killed.Name)); v.must(err, killed.Name+" is out") {
			v.took(time.Since(begun), promised(v.pool.Health), killed.Name+" is out after docker kill")
		}
		v.afterwards(ctx, few, "afterwards", killed.Name)
		v.again(ctx, "docker start of "+killed.Name, nil, "start", killed.Container)
	}
	v.again(ctx, "docker restart of "+restarted.Name, gone(restarted.Name), "restart", "--time", "3", restarted.Container)

	if _, err := engine(ctx, "pause", node); v.must(err, "docker pause of the node") {
		time.Sleep(2 * time.Second)
		if _, err := engine(ctx, "unpause", node); v.must(err, "docker unpause of the node") {
			v.digest(ctx, "after docker pause of the node")
			v.afterwards(ctx, few, "after docker pause of the node", "")
		}
	}
	if _, err := engine(ctx, "kill", node); v.must(err, "docker kill of the node") {
		v.again(ctx, "docker kill and start of the node", nil, "start", node)
	}
	v.again(ctx, "docker restart of the node", nil, "restart", "--time", "10", node)
}

// again makes a container run again, which has no wires then, and attaches it. Before that, noticed must lack nothing.
func (v *verifier) again(ctx context.Context, what string, noticed func(status) string, command ...string) {
	if _, err := engine(ctx, command...); !v.must(err, what) {
		return
	}
	if noticed != nil {
		_, err := v.await(ctx, noticed)
		v.check(err == nil, "without its wire it is out", yes(err), "yes")
	}
	v.leave() // a namespace that somebody is in lives on, and its macvlan device with a MAC that no other may have
	begun := time.Now()
	attached, err := Attach(ctx, v.topology, v.parent)
	if err = errors.Join(err, v.enter(ctx)); !v.must(err, "attach after "+what) {
		return
	}
	fresh := 0
	for _, a := range attached {
		if a.Fresh {
			fresh++
		}
	}
	_, err = v.await(ctx, complete)
	if v.must(err, "all members are up after "+what) {
		v.check(true, "all members are up after "+what, fmt.Sprintf("%s, %d wires new", seconds(time.Since(begun)), fresh), "")
	}
	v.digest(ctx, "after it")
	v.afterwards(ctx, few, "after it", "")
}

func yes(err error) string {
	if err != nil {
		return err.Error()
	}
	return "yes"
}
