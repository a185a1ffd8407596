package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const sample = `# A title
# in two lines. And more.

freeze be1
until be1 down within 8s
----
one
  two

reload x.yaml
    pools:
      - a
slots

# The end.
`

func TestParse(t *testing.T) {
	s, err := Parse("a.txt", sample)
	require.NoError(t, err)
	require.Equal(t, "A title in two lines.", s.Title())
	require.Len(t, s.Blocks, 2)
	require.Equal(t, []Step{{"a.txt", 4, "freeze be1", ""}, {"a.txt", 5, "until be1 down within 8s", ""}}, s.Blocks[0].Steps)
	require.Equal(t, []string{"one", "  two"}, s.Blocks[0].Want)
	require.Equal(t, []Step{{"a.txt", 10, "reload x.yaml", "pools:\n  - a\n"}, {"a.txt", 13, "slots", ""}}, s.Blocks[1].Steps)
	require.Empty(t, s.Blocks[1].Want)
}

func TestRewrite(t *testing.T) {
	s, err := Parse("a.txt", sample)
	require.NoError(t, err)
	require.Equal(t, sample, s.rewrite([][]string{{"one", "  two"}, nil}), "the same output leaves the text as it was")
	want := strings.Replace(sample, "----\none\n  two\n", "", 1)
	want = strings.Replace(want, "slots\n", "slots\n----\nthree\n", 1)
	require.Equal(t, want, s.rewrite([][]string{nil, {"three"}}))
	require.Equal(t, strings.Replace(sample, "one\n  two", "x", 1), s.rewrite([][]string{{"x"}}), "blocks that were not reached stay")
}

func TestParseAgainGivesWhatWasWritten(t *testing.T) {
	s, err := Parse("a.txt", sample)
	require.NoError(t, err)
	again, err := Parse("a.txt", s.rewrite([][]string{{"x", "y"}, {"z"}}))
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, again.Blocks[0].Want)
	require.Equal(t, []string{"z"}, again.Blocks[1].Want)
}

// FuzzParse reads any text: what is read can be written, and read again.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("a\n----\nb\n----\nc")
	f.Add("----")
	f.Add(" x\n\ny")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", text)
		if err != nil {
			require.ErrorAs(t, err, new(*SyntaxError))
			return
		}
		var outputs [][]string
		for _, b := range s.Blocks {
			outputs = append(outputs, b.Want)
		}
		again, err := Parse("f", s.rewrite(outputs))
		require.NoError(t, err)
		require.Len(t, again.Blocks, len(s.Blocks))
		for i := range s.Blocks {
			require.Equal(t, s.Blocks[i].Want, again.Blocks[i].Want)
		}
	})
}

// fails tells a story on the reference stand and returns why it failed.
func fails(t *testing.T, story string) string {
	path := filepath.Join(t.TempDir(), "story.txt")
	require.NoError(t, os.WriteFile(path, []byte(story), 0o644))
	_, err := Run(path, Config{Topology: filepath.Join("..", "examples", "hpnn.yaml")})
	require.Error(t, err)
	return strings.ReplaceAll(err.Error(), path, "story.txt")
}

func TestFaults(t *testing.T) {
	for _, test := range []struct{ name, story, want string }{
		{"unknown command", "\nfreez be1\n", `story.txt:2: "freez" is no command: use advance, background, `},
		{"before anything is done", "advance 1s\n\nfreez be1\n", `story.txt:3: "freez" is no command`},
		{"input without a command", "# x\n\n  y\n", "story.txt:3: an indented line belongs to the command above it, and there is none"},
		{"input that nobody reads", "freeze be1\n  now\n", "story.txt:1: freeze takes no indented lines"},
		{"output without a command", "\n----\nx\n", "story.txt:2: ---- without a command above it"},
		{"quote", "log \"x\n", `story.txt:1: the quote in "x does not end`},
		{"missing word", "get client\n", "story.txt:1: get: URL is missing: usage: get HOST URL"},
		{"too much", "freeze be1 be2\n", `story.txt:1: freeze: "be2" is too much: usage: freeze HOST`},
		{"unknown option", "get client http://192.168.5.21/ tls=1\n", "story.txt:1: get: there is no option tls=: usage: get HOST URL"},
		{"no host", "freeze be9\n", `story.txt:1: freeze: there is no host "be9": use one of be1, be2, `},
		{"no member", "drain cli2\n", `story.txt:1: drain: find member "cli2": no pool has it: use `},
		{"no time", "advance soon\n", `story.txt:1: advance: TIME "soon": give a time such as 500ms, 8s or 1d: usage: advance TIME`},
		{"no table", "flows 99\n", `story.txt:1: flows: the pipeline has no table "99"`},
		{"no feature", "needs wings\n", `story.txt:1: needs: find feature "wings": use one of cut, delay, `},
		{"no frame", "send client tcp 192.168.5.21\n", `story.txt:1: send: tcp "192.168.5.21": give an IPv4 address, with a port for tcp and udp`},
		{"too late", "until all up within 4s\nfreeze be1\nuntil be1 down within 2s\n", "story.txt:3: until: not be1 down within 2s"},
		{"too early", "until all up within 4s\nuntil be1 up within 2s not before 1s\n", "story.txt:2: until: be1 up after 0s, and not only after 1s"},
		{"nothing to wait for", "wait load\n", `story.txt:1: wait: nothing called "load" runs in the background`},
		{"without an end", "background load get client http://192.168.5.21/ every=1s\nwait load\n", "story.txt:2: wait: load does not end by itself: stop it"},
		{"dead already", "kill node\nkill node\n", "story.txt:2: kill: kill node: it does not run"},
		{"drain without a node", "kill node\ndrain be1\n", "story.txt:2: drain: tell node: it does not run"},
		{"damage that is none", "damage\n  flow add nonsense\n", "story.txt:1: damage: damage:1:"},
		{"no topology file", "topology nowhere.yaml\n", "story.txt:1: topology: "},
		{"bad patch", "topology ../x.yaml\n  pools: [\n", "story.txt:1: topology: "},
		{"no probability", "fail all probability 2\n", "story.txt:1: fail: a probability is 0 to 1: usage: fail "},
		{"other output", "until all up within 4s\nslots\n----\nweb fcbee860: be1(1024)\n",
			"story.txt:2: this was not printed (-), or something else (+):\n- web fcbee860: be1(1024)\n+ web fcbee860: be1(256) be2(256) be3(256) be4(256)"},
		{"output that was not awaited", "ping client 192.168.5.21\n", "story.txt:1: this was not printed (-), or something else (+):\n+ echo ttl=64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, fails(t, test.story), test.want)
		})
	}
}

func TestStoryWithoutTopologyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "story.txt")
	require.NoError(t, os.WriteFile(path, []byte("advance 1s\n"), 0o644))
	_, err := Run(path, Config{})
	require.ErrorContains(t, err, "story.txt:1: advance: the story names no topology: begin it with one, or give --topology")
}

func TestStoryOnATopologyOfTheUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "story.txt")
	story := "until all up within 8s\nget client http://192.0.2.80/ x20\n"
	require.NoError(t, os.WriteFile(path, []byte(story), 0o644))
	c := Config{Topology: filepath.Join("..", "examples", "minimal.yaml"), Update: true}
	result, err := Run(path, c)
	require.NoError(t, err)
	require.Equal(t, 2, result.Steps)
	c.Update = false
	again, err := Run(path, c)
	require.NoError(t, err)
	require.Equal(t, result, again)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `\nweb1\(\d+\) web2\(\d+\)\n$`, string(text))
}

func TestUnknownBed(t *testing.T) {
	_, err := Run(filepath.Join("testdata", "probes.txt"), Config{Bed: "feather"})
	require.ErrorContains(t, err, `testdata/probes.txt:3: topology: find bed "feather": there is none of this name: use sim`)
}

func TestDifference(t *testing.T) {
	require.Equal(t, []string{"  a", "- b", "+ x", "  c", "+ d"}, difference([]string{"a", "b", "c"}, []string{"a", "x", "c", "d"}))
	require.Equal(t, []string{"- a"}, difference([]string{"a"}, nil))
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{"500ms": 500 * time.Millisecond, "8s": 8 * time.Second, "1d": 24 * time.Hour, "0": 0} {
		a := newArgs([]string{text})
		require.Equal(t, want, a.time("TIME"))
		require.NoError(t, a.done())
	}
	for _, text := range []string{"-1s", "1", "d", "-1d", "99999d", "x"} {
		a := newArgs([]string{text})
		a.time("TIME")
		require.Error(t, a.done(), text)
	}
}

func TestSplit(t *testing.T) {
	words, err := split(`until reported "a b" within=8s  http://h/slow?seconds=8 x20`)
	require.NoError(t, err)
	require.Equal(t, []string{"until", "reported", "a b", "within=8s", "http://h/slow?seconds=8", "x20"}, words)
	a := newArgs(words[2:])
	require.Equal(t, 20, a.times())
	require.Equal(t, 8*time.Second, a.duration("within"))
	require.Equal(t, "a b", a.word("TEXT"))
	require.Equal(t, "http://h/slow?seconds=8", a.word("URL"))
	require.NoError(t, a.done())
}

func TestRepeats(t *testing.T) {
	require.Equal(t, []string{"a", "b (x3)", "a"}, repeats([]string{"a", "b", "b", "b", "a"}))
	require.Empty(t, repeats(nil))
}
