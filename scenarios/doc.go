// Package scenarios is what must happen: stories as text files, and what runs them.
//
// A story says in prose what the product promises, does something to a site, and shows what came of
// it:
//
//	# A member whose processes stand still is out of the pool after three failed probes.
//	topology ../../examples/hpnn.yaml
//	until all up within 4s
//	freeze be1
//	until be1 down within 8s
//	get client http://192.168.5.21/ x40
//	----
//	be2(13) be3(14) be4(13)
//
// docs/scenarios.md explains the language; it is made of what the commands say of themselves.
//
//	script.go     the files
//	args.go       the words of a command
//	run.go        a story, block by block; mismatch.go what it says if a block prints something else
//	story.go      the site and what a story has to remember
//	job.go        requests and pings, also in the background; answer.go how their answers are shown
//	beds.go       where stories can happen
//	rules.go      what holds after every step, whatever the story: no story has to ask for it
//	command.go    the list of commands; families of them are in cmd_*.go
//	spec.go       frames as text
//	patch.go      topologies that differ a little from a file
//	help.go       docs/scenarios.md, made of what the commands say of themselves
//
// Stories run on any testbed.Bed. What a command needs of a bed is declared with it; a bed that lacks it
// has the story skipped, with the reason.
package scenarios
