package scenarios

import "hpnn/testbed"

// command is a word of the language.
type command struct {
	name    string
	usage   string   // its form: capitals stand for what is to be filled in, brackets for what may be left out
	about   string   // what it does and prints
	example string   // a story on the reference stand, whose members are all up
	input   bool     // it takes indented lines
	early   bool     // it may come before there is a site
	like    likeness // what of its lines differs from bed to bed
	needs   []testbed.Feature
	// wordNeeds are what it needs if it is followed by a word.
	wordNeeds map[string][]testbed.Feature
	run       func(*story, *args) error
}

// family is a group of commands.
type family struct {
	name     string
	commands []command
}

// families lists all commands, as the documentation has them.
func families() []family {
	return []family{
		{"The site and time", []command{topologyCommand, needsCommand, hostsCommand, advanceCommand, untilCommand}},
		{"Traffic", []command{getCommand, pingCommand, backgroundCommand, waitCommand, tallyCommand, stopCommand, servedCommand}},
		{"Trouble", []command{freezeCommand, suspendCommand, thawCommand, killCommand, reviveCommand, cutCommand, mendCommand,
			delayCommand, sickenCommand, healCommand}},
		{"The node", []command{drainCommand, enableCommand, healthCommand, slotsCommand, statusCommand, logCommand,
			reapplyCommand, reloadCommand, startCommand, restartCommand}},
		{"The switch", []command{flowsCommand, dropsCommand, connsCommand, fdbCommand, traceCommand, damageCommand, failCommand}},
		{"Frames", []command{sendCommand, spoofCommand, captureCommand}},
	}
}

func commands() (all []command) {
	for _, f := range families() {
		all = append(all, f.commands...)
	}
	return all
}
