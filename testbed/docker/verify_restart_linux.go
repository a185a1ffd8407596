package docker

import (
	"cmp"
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

	v.pauseNode(ctx)
	if _, err := engine(ctx, "kill", node); v.must(err, "docker kill of the node") {
		v.again(ctx, "docker kill and start of the node", nil, "start", node)
	}
	v.again(ctx, "docker restart of the node", nil, "restart", "--time", "10", node)
}

// pauseNode stops all of the node for longer than a silent member is given: hcd must not take its own sleep for theirs.
func (v *verifier) pauseNode(ctx context.Context) {
	node, asleep := v.topology.Node.Name, promised(v.pool.Health)+time.Second
	before, err := v.await(ctx, complete)
	if !v.must(err, "all members are in") {
		return
	}
	if _, err := engine(ctx, "pause", node); !v.must(err, "docker pause of the node") {
		return
	}
	select {
	case <-time.After(asleep):
	case <-ctx.Done():
	}
	if _, err := engine(context.WithoutCancel(ctx), "unpause", node); !v.must(err, "docker unpause of the node") {
		return
	}
	when := fmt.Sprintf("after the node was paused for %s", seconds(asleep))
	v.afterwards(ctx, few, when, "")
	after, err := v.node.status(ctx)
	if v.must(err, "ask hcd") {
		v.check(changed(before, after) == "", "members taken out "+when, cmp.Or(changed(before, after), "none"), "none")
	}
	v.digest(ctx, when)
}

// again makes a container run again, which has no wires then, and attaches it. Before that, noticed must lack nothing.
func (v *verifier) again(ctx context.Context, what string, noticed func(status) string, command ...string) {
	ended := time.Now()
	if _, err := engine(ctx, command...); !v.must(err, what) {
		return
	}
	if noticed != nil {
		if _, err := v.await(ctx, noticed); v.must(err, "without its wire it is out") {
			v.check(true, "without its wire it is out after "+what, seconds(time.Since(ended)), "")
		}
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
