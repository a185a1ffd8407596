package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"hpnn/model"
	"hpnn/testbed"
)

// admin makes a command that gives the operator's word.
func admin(name string, word model.AdminState, about string) command {
	return command{
		name: name, usage: name + " MEMBER", about: about,
		example: "drain be1\nuntil be1 out within 1s\nenable be1\nuntil be1 in within 1s",
		run: func(t *story, a *args) error {
			member := a.word("MEMBER")
			if err := a.done(); err != nil {
				return err
			}
			names, err := t.members(member)
			if err != nil {
				return err
			}
			for _, n := range names {
				err = errors.Join(err, t.bed.Node().SetAdmin(n, word))
			}
			t.rules.want = nil
			return err
		},
	}
}

var (
	drainCommand  = admin("drain", model.Drained, `Gives MEMBER, or POOL/MEMBER, no new connections. Those it has live on, and it is probed as before.`)
	enableCommand = admin("enable", model.Enabled, `Lets a drained MEMBER take new connections again.`)
)

var healthCommand = command{
	name:  "health",
	usage: "health",
	about: `Prints what the node knows of each member: up or down, the operator's word, its slots and, of one that is down, why.`,
	example: `kill be1
until be1 down within 8s
drain be2
until be2 out within 1s
health`,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		state := t.bed.Node().State()
		var rows [][]string
		for _, p := range state.View.Pools {
			for _, m := range p.Members {
				up, why := "down", ""
				if m.Up {
					up = "up"
				}
				names, _ := t.members(p.Name + "/" + m.Name)
				if h := state.Health[names[0]]; !m.Up && h.LastError != "" {
					why = h.LastError
				}
				rows = append(rows, []string{t.title(p.Name, m.Name), up, m.Admin, fmt.Sprintf("%d slots", m.Slots), why})
			}
		}
		t.print("%s", table(rows))
		return nil
	},
}

// title is a member's name, with its pool's if there are several.
func (t *story) title(pool, member string) string {
	if len(t.topology.Pools) > 1 {
		return pool + "/" + member
	}
	return member
}

var statusCommand = command{
	name:  "status",
	like:  likeStatus,
	usage: "status",
	about: `Prints whether the node runs and whether the switch is as it should be, how often the node has repaired it, and how
often its calls failed.`,
	example: `status
kill node
status`,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		state := t.bed.Node().State()
		if !state.Running {
			t.print("dead")
			return nil
		}
		step := "in step"
		if problem, err := t.outOfStep(); err != nil || problem != "" {
			step = "not in step"
		}
		t.print("running, %s, %d repairs, %d failures", step, state.View.Repairs, state.View.Failures)
		if state.View.Failure != "" {
			t.print("%s", state.View.Failure)
		}
		return nil
	},
}

var logCommand = command{
	name:  "log",
	usage: "log [TEXT]",
	about: `Prints the node's log since the block of commands began, or the lines of it with TEXT.`,
	example: `kill be1
until be1 down within 8s
log`,
	run: func(t *story, a *args) error {
		text := strings.Join(a.rest(), " ")
		if err := a.done(); err != nil {
			return err
		}
		t.hearOut()
		for _, line := range t.log {
			if strings.Contains(line, text) {
				t.print("%s", line)
			}
		}
		return nil
	},
}

var reapplyCommand = command{
	name:    "reapply",
	usage:   "reapply",
	about:   `Makes the node compare the switch with what it should hold at once.`,
	example: `reapply`,
	run: func(t *story, a *args) error {
		if err := a.done(); err != nil {
			return err
		}
		return t.bed.Node().Reapply()
	},
}

var reloadCommand = command{
	name:  "reload",
	usage: "reload FILE",
	about: `Puts another topology in force, as SIGHUP does; indented lines are laid over the file, as in topology. The machines stay
as they are. A topology with faults is refused, and the faults are printed.`,
	example: `reload ../examples/hpnn.yaml
  pools: [{name: web, members: [{name: be1, weight: 2}]}]
advance 1s
slots
reload ../examples/hpnn.yaml
  pools: [{name: web, slots: 0}]`,
	input: true,
	run: func(t *story, a *args) error {
		file := a.word("FILE")
		if err := a.done(); err != nil {
			return err
		}
		topology, err := t.load(file, a.input)
		var faults model.Faults
		if errors.As(err, &faults) {
			for _, f := range faults {
				t.print("refused: %s", withoutPlace(f))
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.bed.Node().Reload(topology); err != nil {
			return err
		}
		t.topology = topology
		t.rules.learn(topology)
		return nil
	},
}

// withoutPlace is a fault without file and line, which differ from place to place.
func withoutPlace(f model.Fault) string {
	f.File, f.Line, f.Column = "", 0, 0
	return strings.TrimLeft(f.Error(), ":0123456789 ")
}

var startCommand = command{
	name:    "start",
	usage:   "start node",
	about:   `Starts the node after kill node. It adopts what the switch holds.`,
	example: killCommand.example,
	needs:   []testbed.Feature{testbed.KillNode},
	run: func(t *story, a *args) error {
		if w := a.word("node"); w != "node" {
			a.fail("%q cannot be started: start node, or revive a host", w)
		}
		if err := a.done(); err != nil {
			return err
		}
		return t.startNode()
	},
}

func (t *story) startNode() error {
	err := t.bed.Node().Start()
	t.disturb()
	return err
}

// disturb notes that the switch may differ now from what the node knows.
func (t *story) disturb() { t.rules.disturbed, t.rules.want = t.bed.Now(), nil }

var restartCommand = command{
	name:  "restart",
	usage: "restart (node|switch)",
	about: `Kills the node and starts it at once; or makes the switch lose all its flows and connections, as a restart of
ovs-vswitchd does.`,
	example: `restart switch
until settled within 2s
get client http://192.168.5.21/ x10`,
	wordNeeds: map[string][]testbed.Feature{"node": {testbed.KillNode}, "switch": {testbed.RestartSwitch}},
	run: func(t *story, a *args) error {
		what := a.word("node or switch")
		if what != "node" && what != "switch" {
			a.fail("%q cannot be restarted: node and switch can", what)
		}
		if err := a.done(); err != nil {
			return err
		}
		if what == "switch" {
			t.disturb()
			return t.bed.Switch().Restart()
		}
		if err := t.bed.Node().Kill(); err != nil {
			return err
		}
		return t.startNode()
	},
}
