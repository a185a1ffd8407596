package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"hpnn/datapath"
	"hpnn/internal/api"
	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/testbed"
	"hpnn/testbed/realtime"
)

// OpenBed builds the site of a topology for a story. The programs hcd and backend are looked for in the directory that
// HPNN_BIN names, beside the caller's own program, and in PATH.
func OpenBed(t model.Topology, c testbed.BedConfig) (testbed.Bed, error) {
	return openBed(OpenVSwitch, t, c)
}

// OpenSimBed does so with the simulator as the switch: the program simswitch must be there, too.
func OpenSimBed(t model.Topology, c testbed.BedConfig) (testbed.Bed, error) {
	return openBed(Simulator, t, c)
}

func openBed(s Switch, t model.Topology, c testbed.BedConfig) (testbed.Bed, error) {
	if reason, ok := Available(s); !ok {
		return nil, fmt.Errorf("%w: %s", testbed.ErrLacking, reason)
	}
	programs, err := findPrograms(s.programs())
	if err != nil {
		return nil, fmt.Errorf("open bed %v: %w", s, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	b, err := Open(ctx, Config{Topology: t, Programs: programs, Switch: s})
	if err != nil {
		return nil, err
	}
	return realtime.Open(stage{b}, t, c)
}

// openTimeout bounds the building of a site, on a machine that may be busy.
const openTimeout = time.Minute

// stage is a Bed as a site for stories.
type stage struct{ *Bed }

var (
	_ realtime.Site    = stage{}
	_ realtime.Watched = stage{}
	_ realtime.Daemon  = daemon{}
	_ realtime.Machine = actor{}
)

// Name implements realtime.Site.
func (s stage) Name() string { return s.config.Switch.String() }

// Can implements realtime.Site.
func (s stage) Can(f testbed.Feature) error {
	switch f {
	case testbed.Taps:
		if s.config.Switch == Simulator {
			return nil
		}
		return errors.New("a real switch does not tell what became of every frame")
	case testbed.SuspendHosts:
		return errors.New("a namespace has no kernel of its own that could stand still")
	}
	return realtime.Beyond(f)
}

// Machines implements realtime.Site.
func (s stage) Machines() (all []realtime.Machine) {
	used := map[*Machine]bool{}
	add := func(m *Machine) {
		if !used[m] {
			used[m] = true
			all = append(all, actor{s.Bed, m, m.about(), device})
		}
	}
	for _, segment := range s.config.Topology.Segments {
		if p := segment.Probe; p != nil {
			about := testbed.Machine{Name: "probe-" + segment.Name, Address: p.Address, MAC: packet.MAC(p.MAC),
				Port: portNumber(p.Port.Number), Role: testbed.Kernel}
			all = append(all, actor{s.Bed, &Machine{Name: about.Name, space: s.node}, about, p.Port.Name})
		}
		if segment.Uplink != nil {
			add(s.Machine(beyond(s.config.Topology, segment).Name))
		}
	}
	for _, m := range s.machines {
		add(m)
	}
	return all
}

// Daemon implements realtime.Site.
func (s stage) Daemon() realtime.Daemon { return daemon{s.Bed} }

// Bridge implements realtime.Site.
func (s stage) Bridge(ctx context.Context) (datapath.Bridge, error) {
	return s.forwarder.bridge(ctx)
}

// Watch implements realtime.Watched.
func (s stage) Watch(tap testbed.Tap) error {
	if sim, ok := s.forwarder.(*simulator); ok {
		return sim.watchWith(tap)
	}
	return s.Can(testbed.Taps)
}

// RestartSwitch implements realtime.Site.
func (s stage) RestartSwitch(ctx context.Context) error {
	s.KillSwitch()
	return s.StartSwitch(ctx)
}

// Close implements realtime.Site.
func (s stage) Close() error {
	s.Bed.Close()
	return nil
}

// actor is a machine of a stage.
type actor struct {
	bed    *Bed
	m      *Machine
	about  testbed.Machine
	device string
}

// About implements realtime.Machine.
func (a actor) About() testbed.Machine { return a.about }

// Device implements realtime.Machine.
func (a actor) Device() string { return a.device }

// Enter implements realtime.Machine.
func (a actor) Enter(f func() error) error { return a.m.space.do(f) }

// Web implements realtime.Machine.
func (a actor) Web() uint16 {
	if len(a.m.serves) == 0 {
		return 0
	}
	return a.m.serves[0]
}

// Act implements realtime.Machine.
func (a actor) Act(act testbed.Act) error {
	switch act.Kind {
	case testbed.Cut:
		return a.bed.Cut(a.m)
	case testbed.Mend:
		return a.bed.Mend(a.m)
	}
	if a.m.backend == nil {
		return fmt.Errorf("find processes of %s: it has none", a.m.Name)
	}
	switch act.Kind {
	case testbed.Freeze:
		return a.m.Freeze()
	case testbed.Thaw:
		return a.m.Thaw()
	case testbed.Kill:
		a.m.Kill()
		return nil
	case testbed.Revive:
		return a.bed.Revive(a.m)
	}
	return fmt.Errorf("do %d to %s: bed %v cannot", act.Kind, a.m.Name, a.bed.config.Switch)
}

// daemon is hcd on a stage.
type daemon struct{ bed *Bed }

// Start implements realtime.Daemon.
func (d daemon) Start(ctx context.Context) error { return d.bed.StartHCD(ctx) }

// Kill implements realtime.Daemon.
func (d daemon) Kill() error {
	d.bed.KillHCD()
	return nil
}

// Reload implements realtime.Daemon.
func (d daemon) Reload(t model.Topology) error {
	if err := os.WriteFile(d.bed.TopologyFile(), t.YAML(), 0o644); err != nil {
		return err
	}
	return d.bed.running(&d.bed.hcd).signal(syscall.SIGHUP)
}

// API implements realtime.Daemon.
func (d daemon) API() *api.Client { return api.NewClient(d.bed.apiSocket()) }

// Log implements realtime.Daemon.
func (d daemon) Log() string { return d.bed.path("hcd.log") }

// findPrograms finds the directory of programs.
func findPrograms(names []string) (string, error) {
	candidates := []string{os.Getenv("HPNN_BIN")}
	if self, err := os.Executable(); err == nil {
		candidates = append(candidates, filepath.Dir(self))
	}
	for _, dir := range append(candidates, filepath.SplitList(os.Getenv("PATH"))...) {
		if dir != "" && !slices.ContainsFunc(names, func(name string) bool { return !executable(dir, name) }) {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("find %s: build them (make build) and run bin/lbctl, or name their directory in HPNN_BIN",
		strings.Join(names, ", "))
}

func executable(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
