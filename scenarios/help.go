package scenarios

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hpnn/testbed"
)

// Command is what a command of the language says of itself.
type Command struct {
	Family  string // of commands
	Name    string
	Usage   string // its form: capitals are to be filled in, brackets may be left out
	About   string
	Example string // on the reference stand, when all members are up
	Needs   []testbed.Feature
}

// Commands lists the commands of the language by family.
func Commands() (all []Command) {
	for _, f := range families() {
		for _, c := range f.commands {
			all = append(all, Command{f.name, c.name, c.usage, c.about, c.example, c.needs})
		}
	}
	return all
}

// String is the command's help as plain text.
func (c Command) String() string {
	text := fmt.Sprintf("%s\n\n%s\n", c.Usage, c.About)
	if len(c.Needs) > 0 {
		text += fmt.Sprintf("\nNeeds %s of the bed.\n", features(c.Needs))
	}
	return text + "\nFor instance:\n\n" + indent(c.Example)
}

func features(all []testbed.Feature) string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.String()
	}
	return strings.Join(names, ", ")
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Title is the first sentence of a story.
func (s *Script) Title() string {
	var words []string
	for _, line := range s.lines {
		if !comment(line) || strings.Trim(line, "# ") == "" {
			break
		}
		words = append(words, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	sentence, _, more := strings.Cut(strings.Join(words, " "), ". ")
	if more {
		sentence += "."
	}
	return sentence
}

// example runs a command's example and gives it with what it printed. path is where the example would
// stand, two directories below which the reference stand is found in examples/.
func example(c Command, path string) (string, error) {
	script, err := Parse(path, "topology ../examples/hpnn.yaml\nuntil all up within 4s\n\n"+c.Example+"\n")
	if err != nil {
		return "", err
	}
	_, outputs, err := script.tell(Config{Update: true})
	if err != nil {
		return "", fmt.Errorf("example of %s: %w", c.Name, err)
	}
	text := c.Example + "\n"
	if printed := slices.Concat(outputs[1:]...); len(printed) > 0 {
		text += separator + "\n" + strings.Join(printed, "\n") + "\n"
	}
	return text, nil
}

// Document is docs/scenarios.md: the language, made of what the commands say of themselves, with their
// examples run. docs is the directory it stands in, stories the one with the stories.
func Document(docs, stories string) (string, error) {
	var b strings.Builder
	b.WriteString(documentIntro)
	for _, r := range RuleMeanings() {
		fmt.Fprintf(&b, "- **%s**: %s\n", r[0], r[1])
	}
	b.WriteString(documentBeds)
	for _, f := range testbed.Features() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f, f.Meaning())
	}
	b.WriteString(documentRealTime)
	for _, f := range families() {
		for _, c := range f.commands {
			if c.like.about != "" {
				fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.name, c.name, c.like.about)
			}
		}
	}
	b.WriteString("\n## Commands\n")
	family, told := "", map[string]string{}
	for _, c := range Commands() {
		if c.Family != family {
			family = c.Family
			fmt.Fprintf(&b, "\n### %s\n", family)
		}
		fmt.Fprintf(&b, "\n#### %s\n\n    %s\n\n%s\n", c.Name, c.Usage, c.About)
		if len(c.Needs) > 0 {
			fmt.Fprintf(&b, "\nNeeds %s.\n", features(c.Needs))
		}
		if other := told[c.Example]; other != "" {
			fmt.Fprintf(&b, "\nFor an example see [%s](#%s).\n", other, other)
			continue
		}
		told[c.Example] = c.Name
		run, err := example(c, filepath.Join(docs, "scenarios.md"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n```\n%s```\n", run)
	}
	fmt.Fprintf(&b, "\n## What a frame is\n\n%s\n## The stories\n\n", Frames)
	err := index(&b, stories)
	return b.String(), err
}

// index lists the stories of a directory.
func index(b *strings.Builder, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return fmt.Errorf("list stories: %w", err)
	}
	for _, path := range paths {
		s, err := Load(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		fmt.Fprintf(b, "- [%s](../scenarios/testdata/%s): %s\n", strings.TrimSuffix(name, ".txt"), name, s.Title())
	}
	return nil
}

const documentIntro = `# Stories

What the product promises is told in stories: text files that do something to a site and show what comes of it. They are the
tests of the whole (` + "`go test ./scenarios`" + `), and anybody can write one about a topology of his own:

    lbctl scenario run scenarios/testdata/member-frozen.txt
    lbctl scenario run --topology site.yaml what-if.txt
    lbctl scenario run --update what-if.txt

On the bed ` + "`sim`" + ` the hosts, the switch and the node are in memory and time is virtual: a story of a day takes a second, no story
sleeps, and two runs print the same. This page is made by ` + "`go test ./scenarios -update`" + ` from what the commands say of themselves; the
output below their examples is real.

## The language

    # Prose, for people.

    freeze be1
    until be1 down within 8s
    slots
    ----
    web 3e5c6317: be2(341) be3(341) be4(342)
      moved: be1->be2 85, be1->be3 85, be1->be4 86

- A line that begins with ` + "`#`" + ` is prose. A line with a command does something and perhaps prints something.
- Indented lines belong to the command above them.
- Commands without an empty line between them are a block. What all of its commands print stands below ` + "`----`" + `, up to an empty line; a
  block without ` + "`----`" + ` prints nothing. With ` + "`--update`" + ` what was printed is written there, whatever it was: read the difference.
- Words are separated by blanks, and "quotes hold them together". ` + "`key=value`" + ` is an option, ` + "`x20`" + ` is twenty times, and times are written
  as ` + "`500ms`, `8s`, `5m` or `1d`" + `.
- A file named in a story is looked for beside the story.

The story fails at the first block that prints something else, at a command that cannot be done, or at a rule that is broken. The error
names file and line.

## The rules

After every command it is checked that these hold, whatever the story is about:

`

var documentRealTime = `
### In real time

Where time is virtual, output is compared to the letter. Where it is real, so is most of it, too: names, statuses, addresses, slots, digests,
drops, errors, and who of the members answers, for that depends on addresses and ports alone, and stories choose the ports. What depends on
how long things take is declared, command by command; the rest of the line must still be the same, and what was measured must be alike:
at least half of what the story tells, and at most four times that and ` + fmt.Sprint(spare) + ` more, for stories go on while they are looked at.

A limit (` + "`within`" + `, and the time to notice what others did) is ` + Slack.String() + ` longer than told, as the machine may be busy. The rules are checked after each
block. A story that has no meaning there says so: ` + "`needs virtual-time`" + `.

| Command | What may differ |
|---|---|
`

const documentBeds = `
While somebody else's flows are in the switch (` + "`damage`" + `) frames may go anywhere.

## Beds

The same stories run wherever there is a bed for them. A bed says what it can do, commands say what they need, and a story that needs
more than there is, is skipped with the reason (` + "`lbctl scenario run --bed BED`" + `):

- ` + "`sim`" + `: everything in memory, in virtual time. It can do everything.
- ` + "`dummy`" + `: the switch is a real ovs-vswitchd, time is virtual, and a story prints what it prints on sim. See [testing.md](testing.md).
- ` + "`netns`" + `: real kernels, real HTTP, a real switch and the daemon as a process, in network namespaces (` + "`make e2e`" + `; root).
- ` + "`docker`" + `: the same in containers, of the stand's images (` + "`make verify`" + `; root). See [docker.md](docker.md).
- ` + "`netns-sim`" + `: the site of netns with the simulator as the switch, in a process of its own (` + "`make e2e BED=netns-sim`" + `; root).

| Feature | Meaning |
|---|---|
`
