package scenarios

import (
	"context"
	"fmt"
	"strings"

	"hpnn/datapath/openflow"
	"hpnn/testbed"
)

var damageCommand = command{
	name:  "damage",
	usage: "damage",
	about: `Changes the switch's flows behind the node's back: the indented lines are those of an ovs-ofctl bundle.`,
	example: `damage
  flow delete table=11
get client http://192.168.5.21/ timeout=500ms
until settled within 2s
get client http://192.168.5.21/`,
	input: true,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		bundle, err := openflow.ParseBundle("damage", strings.NewReader(a.input))
		if err != nil {
			return err
		}
		t.disturb()
		t.rules.damaged = true
		return t.bed.Switch().Bridge().Commit(context.Background(), bundle)
	},
}

var failCommand = command{
	name:  "fail",
	usage: "fail (commits|dumps|flushes|all) (next N|probability P) [after=N] [late] | fail off",
	about: `Makes calls of the node to the switch fail: the next N, or each with probability P until fail off; after=N lets N pass
before. Late ones have done what was asked before they fail: only the answer is lost.`,
	example: `fail commits next 2
kill be1
until be1 down within 10s
fail off
status`,
	needs: []testbed.Feature{testbed.FailSwitch},
	run: func(t *story, a *args) error {
		o, err := parseOutage(a)
		if err != nil {
			return err
		}
		t.disturb()
		t.rules.failing = o != testbed.Outage{}
		t.bed.Switch().Fail(o)
		return nil
	},
}

var callKinds = map[string]testbed.Calls{
	"commits": testbed.Commits, "dumps": testbed.Dumps, "flushes": testbed.Flushes, "all": testbed.AllCalls,
}

func parseOutage(a *args) (o testbed.Outage, err error) {
	if a.has("off") {
		return o, a.done()
	}
	known := false
	if o.Calls, known = callKinds[a.word("commits, dumps, flushes or all")]; !known {
		a.fail("commits, dumps, flushes or all calls can fail")
	}
	o.Late, o.Skip = a.has("late"), a.number("after", 0, 1_000_000)
	switch how := a.word("next N or probability P"); how {
	case "next":
		w := a.word("N")
		o.Next = a.parseInt("N", w, 1, 1_000_000)
	case "probability":
		if _, err := fmt.Sscan(a.word("P"), &o.Probability); err != nil || !(o.Probability >= 0 && o.Probability <= 1) {
			a.fail("a probability is 0 to 1")
		}
	default:
		a.fail("%q: say next N or probability P", how)
	}
	return o, a.done()
}
