package main

import (
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"lbctl": main}) }

// TestScripts runs testdata/script: each file is a session at a shell, with the files it needs. Besides
// what testscript knows there is "exits CODE COMMAND...". $EXAMPLES is the directory of that name, and
// $LAB what a real switch did.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for name, path := range map[string]string{"EXAMPLES": "../../examples", "LAB": "../../internal/replay/testdata/ovs-lab"} {
				path, err := filepath.Abs(path)
				if err != nil {
					return err
				}
				e.Setenv(name, path)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command that has to exit with the code given.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var status *exec.ExitError
		if !errors.As(err, &status) {
			ts.Fatalf("%v", err)
		}
		got = status.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code is %d, not %d", got, want)
	}
}
