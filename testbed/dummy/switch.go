package dummy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hpnn/internal/ovsproto"
)

const (
	// callLimit bounds every call whose context has no deadline of its own.
	callLimit = 30 * time.Second
	// deathLimit is how long a call waits, after its connection broke, to learn whether the daemon has died.
	deathLimit = 5 * time.Second
	// socketPathLimit leaves room for the longest socket name below Config.Dir.
	socketPathLimit = 90
)

// Switch is one running Open vSwitch with the bridge Local. Its methods may be called from several goroutines and run
// one after the other. A call that its context breaks off may or may not have had its effect.
type Switch struct {
	mutex  sync.Mutex
	config Config
	tools  tools
	dir    string
	own    bool // dir is ours to remove
	closed bool

	database, vswitchd *daemon
	control            *ovsproto.Control
	bridge             *openflow
	listener           *ovsproto.Conn // for packet-ins; may be nil
	captures           []*capture
}

// Start runs a new switch and returns when it forwards frames by its (empty) flow table. Its clock stands still. The
// context bounds the start only; Close ends the switch.
func Start(ctx context.Context, config Config) (*Switch, error) {
	if reason, ok := Available(); !ok {
		return nil, fmt.Errorf("start dummy switch: %s", reason)
	}
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("start dummy switch: %w", err)
	}
	s := &Switch{config: config, dir: config.Dir}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("start dummy switch: %w", err)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start dummy switch: %w", s.explain(err)), s.Close())
	}
	return s, nil
}

func (s *Switch) prepare() (err error) {
	if s.tools, err = findTools(); err != nil {
		return err
	}
	if s.dir == "" {
		s.own = true
		s.dir, err = os.MkdirTemp("", "ovs-dummy-")
		return err
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return err
	}
	if len(s.dir) > socketPathLimit {
		return fmt.Errorf("use %s: the path is longer than %d bytes, too long for sockets", s.dir, socketPathLimit)
	}
	entries, err := os.ReadDir(s.dir)
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("use %s: the directory is not empty", s.dir)
	}
	return err
}

// Dir returns the directory of the daemons, with their logs ovs-vswitchd.log and ovsdb-server.log.
func (s *Switch) Dir() string { return s.dir }

// Close ends both daemons and removes the directory if Start made it. Closing twice is fine.
func (s *Switch) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.closed = true
	s.halt()
	if !s.own {
		return nil
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("close dummy switch: %w", err)
	}
	return nil
}

// Restart ends what still runs and starts a new switch with the same configuration in the same directory: no flows,
// no connections, a clock of its own. It is the way on after an AbortedError.
func (s *Switch) Restart(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return fmt.Errorf("restart dummy switch: %w", ErrClosed)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	s.halt()
	if err := s.sweep(); err != nil {
		return fmt.Errorf("restart dummy switch: %w", err)
	}
	if err := s.launch(ctx); err != nil {
		err = s.explain(err)
		s.halt()
		return fmt.Errorf("restart dummy switch: %w", err)
	}
	return nil
}

// sweep removes what the previous run left in the directory, which held nothing else.
func (s *Switch) sweep() error {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, e.Name())))
	}
	return err
}

// halt ends connections and daemons. It leaves the fields, so that later calls tell what happened.
func (s *Switch) halt() {
	s.control.Close()
	s.bridge.hangUp()
	s.listener.Close()
	for _, c := range s.captures {
		c.close()
	}
	s.bridge, s.listener, s.captures = nil, nil, nil
	s.vswitchd.stop()
	s.database.stop()
}

// do runs one call of the public interface: alone, bounded in time, and with the death of a daemon told apart.
func (s *Switch) do(ctx context.Context, what string, call func(context.Context) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
	if err := s.death(0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	if err := call(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, s.explain(err))
	}
	return nil
}

// explain replaces an error that is the consequence of a daemon's death by that death. A connection may break some
// time before the process is gone.
func (s *Switch) explain(err error) error {
	patience := time.Duration(0)
	var refused *RefusedError
	if disconnected(err) || errors.As(err, &refused) && refused.Disconnected() {
		patience = deathLimit
	}
	if death := s.death(patience); death != nil {
		return death
	}
	return err
}

// death returns an AbortedError if a daemon has ended or ends within the given time.
func (s *Switch) death(patience time.Duration) error {
	switch {
	case s.vswitchd.endsWithin(patience):
		return s.vswitchd.aborted()
	case s.database.over():
		return s.database.aborted()
	}
	return nil
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, callLimit)
}
