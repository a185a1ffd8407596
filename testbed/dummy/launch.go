package dummy

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"hpnn/internal/ovsproto"
)

// path returns the path of a file in the switch's directory.
func (s *Switch) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Switch) databaseAddress() string { return "unix:" + s.path("db.sock") }

// launch starts the daemons in an empty directory and connects to them.
func (s *Switch) launch(ctx context.Context) error {
	if _, err := s.run(ctx, "", s.tools.create, "create", s.path("conf.db"), schemaPath); err != nil {
		return err
	}
	if err := s.startDatabase(ctx); err != nil {
		return err
	}
	if err := s.startVswitchd(ctx); err != nil {
		return err
	}
	return s.connect(ctx)
}

func (s *Switch) startDatabase(ctx context.Context) (err error) {
	s.database, err = startDaemon(s.tools.database, s.dir, s.path("conf.db"),
		"--remote=p"+s.databaseAddress(), "--unixctl="+s.path("db.ctl"))
	if err != nil {
		return err
	}
	if err := s.database.awaitSocket(ctx, s.path("db.sock")); err != nil {
		return err
	}
	_, err = s.vsctl(ctx, append([]string{"--no-wait", "init"}, s.wiring()...)...)
	return err
}

// wiring is the content of the database: the bridge, its ports, their captures, and no caching of flows.
func (s *Switch) wiring() []string {
	args := []string{
		"--", "set", "Open_vSwitch", ".", "other_config:flow-limit=0",
		"--", "add-br", Local,
		"--", "set", "bridge", Local, "datapath_type=dummy", "fail-mode=secure", `other-config:hwaddr="` + LocalMAC + `"`,
		"--", "set", "interface", Local, "options:tx_pcap=" + s.capturePath(Local),
	}
	for _, p := range s.config.Ports {
		args = append(args, "--", "add-port", Local, p.Name, "--", "set", "interface", p.Name, "type=dummy",
			fmt.Sprintf("ofport_request=%d", p.Number), "options:tx_pcap="+s.capturePath(p.Name))
	}
	return args
}

func (s *Switch) capturePath(port string) string { return s.path(port + ".pcap") }

func (s *Switch) startVswitchd(ctx context.Context) (err error) {
	s.vswitchd, err = startDaemon(s.tools.vswitchd, s.dir, s.databaseAddress(),
		"--enable-dummy=override", "--disable-system", "--disable-system-route", "--unixctl="+s.path("vswitchd.ctl"),
		"-vofproto_dpif_upcall:off", "-vconnmgr:warn") // else a line per frame (flow limit of 0) and per bundle
	if err != nil {
		return err
	}
	if err := s.vswitchd.awaitSocket(ctx, s.path("vswitchd.ctl")); err != nil {
		return err
	}
	// Any change that is waited for tells that the whole configuration has been taken over.
	_, err = s.vsctl(ctx, "set", "Open_vSwitch", ".", "external_ids:ready=yes")
	return err
}

func (s *Switch) connect(ctx context.Context) (err error) {
	if s.control, err = ovsproto.DialControl(ctx, s.path("vswitchd.ctl")); err != nil {
		return err
	}
	if err := s.openCaptures(); err != nil {
		return err
	}
	_, err = s.control.Call(ctx, "time/stop")
	return err
}

func (s *Switch) openCaptures() error {
	for _, p := range append([]Port{{Name: Local}}, s.config.Ports...) {
		c, err := openCapture(p.Name, s.capturePath(p.Name))
		if err != nil {
			return err
		}
		s.captures = append(s.captures, c)
	}
	return nil
}

func (s *Switch) vsctl(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, "", s.tools.vsctl, append([]string{"--db=" + s.databaseAddress()}, args...)...)
}

func (s *Switch) ofctl(ctx context.Context, stdin string, args ...string) (string, error) {
	return s.run(ctx, stdin, s.tools.ofctl, append([]string{"-O", "OpenFlow15"}, args...)...)
}

// run runs one of OVS's tools and returns its standard output. A tool that fails is a RefusedError with its words.
func (s *Switch) run(ctx context.Context, stdin, tool string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = s.dir, environment(s.dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	name := filepath.Base(tool)
	switch {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("run %s: %w", name, ctx.Err())
	case cmd.ProcessState == nil || !cmd.ProcessState.Exited():
		return "", fmt.Errorf("run %s: %w: %s", name, err, stderr.String())
	}
	return "", &RefusedError{Command: name, Words: stderr.String()}
}
