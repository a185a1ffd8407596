package scenarios

import (
	"hpnn/testbed"
)

// act makes a command that does something to a host.
func act(name string, k testbed.ActKind, about, example string, needs testbed.Feature) command {
	return command{
		name: name, usage: name + " HOST", about: about, example: example, needs: []testbed.Feature{needs},
		run: func(t *story, a *args) error {
			host := a.word("HOST")
			if err := a.done(); err != nil {
				return err
			}
			if _, err := t.machine(host); err != nil {
				return err
			}
			return t.bed.Hosts().Do(host, testbed.Act{Kind: k})
		},
	}
}

const frozen = `freeze be1
until be1 down within 8s
thaw be1
until be1 up within 4s`

const unplugged = `cut be1
until be1 down within 8s
ping cli2 10.20.0.2
mend be1
until be1 up within 4s`

const ill = `sicken be1
until be1 down within 8s
heal be1
until be1 up within 4s`

var (
	freezeCommand = act("freeze", testbed.Freeze, `Stops the processes of HOST, as docker pause does: they accept, read and write nothing. Its kernel lives: it
answers ARP and ping, and completes TCP handshakes.`, frozen, testbed.FreezeHosts)
	suspendCommand = act("suspend", testbed.Suspend, `Stops the whole machine, kernel and all. Frames wait in its network card.`,
		`suspend be1
ping cli2 10.20.0.2
thaw be1`, testbed.SuspendHosts)
	thawCommand   = act("thaw", testbed.Thaw, `Lets a frozen or suspended HOST go on where it stopped.`, frozen, testbed.FreezeHosts)
	reviveCommand = act("revive", testbed.Revive, `Starts the processes of a killed HOST anew.`,
		`kill be1
until be1 down within 8s
revive be1
until be1 up within 4s`, testbed.KillHosts)
	cutCommand    = act("cut", testbed.Cut, `Unplugs HOST: what is sent to it or by it is lost.`, unplugged, testbed.CutCables)
	mendCommand   = act("mend", testbed.Mend, `Plugs HOST in again.`, unplugged, testbed.CutCables)
	sickenCommand = act("sicken", testbed.Sicken, `Lets the web server of HOST answer 503 to /healthz, and everything else as before.`, ill, testbed.KillHosts)
	healCommand   = act("heal", testbed.Heal, `Lets /healthz say 200 again.`, ill, testbed.KillHosts)
)

var killCommand = command{
	name:  "kill",
	usage: "kill (HOST|node)",
	about: `Ends the processes of HOST at once. Its kernel lives and closes their ports and connections: with FIN, or with RST where
something was left to read. Or ends the node, as kill -9 does: the switch goes on by itself.`,
	example: `kill node
get client http://192.168.5.21/
start node`,
	needs:     []testbed.Feature{testbed.KillHosts},
	wordNeeds: map[string][]testbed.Feature{"node": {testbed.KillNode}},
	run: func(t *story, a *args) error {
		host := a.word("HOST or node")
		if err := a.done(); err != nil {
			return err
		}
		if host == "node" {
			return t.bed.Node().Kill()
		}
		return t.bed.Hosts().Do(host, testbed.Act{Kind: testbed.Kill})
	},
}

var delayCommand = command{
	name:  "delay",
	usage: "delay HOST TIME",
	about: `Makes every frame to and from HOST take TIME longer; 0 takes that back.`,
	example: `delay be1 600ms
until be1 down within 8s
delay be1 0s
until be1 up within 4s`,
	needs: []testbed.Feature{testbed.SlowCables},
	run: func(t *story, a *args) error {
		host, by := a.word("HOST"), a.time("TIME")
		if err := a.done(); err != nil {
			return err
		}
		return t.bed.Hosts().Do(host, testbed.Act{Kind: testbed.Delay, By: by})
	},
}
