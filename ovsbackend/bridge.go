package ovsbackend

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"hpnn/datapath"
	"hpnn/internal/eventqueue"
	"hpnn/internal/ovsproto"
)

// Bridge is a bridge of a running Open vSwitch.
type Bridge struct {
	config Config
	tool   string // path of ovs-ofctl
	events *eventqueue.Queue
	link   *link

	life    context.Context // ends with Close
	end     context.CancelFunc
	workers sync.WaitGroup
	closing sync.Once

	repair sync.Mutex // held while bridge and ports are put in order
	host   *host      // nil if no port has addresses

	usual atomic.Int64 // number of flows to make room for

	noting sync.Mutex // held while Info changes and that is told

	mu       sync.Mutex
	info     Info
	spelling spelling
}

var _ datapath.Bridge = (*Bridge)(nil)

// Info describes the switch and its bridge.
type Info struct {
	Bridge       string
	Datapath     string // the type: "system" is the kernel's, "netdev" forwards in ovs-vswitchd
	Version      string // of ovs-vswitchd, such as "3.1.0"
	RunDir       string
	Database     string
	PortProblems map[string]string // why the switch cannot use a port now, in its own words, by port
	HostProblem  error             // why this host's side of internal ports could not be set up again after a restart; or nil
	// ConfigProblem is why bridge and ports could not be put in order after somebody had changed them, or nil.
	ConfigProblem error
}

// Open connects to a switch, creates or adopts the bridge and puts its ports in order. The context bounds
// this only; Close ends the rest.
func Open(ctx context.Context, c Config) (*Bridge, error) {
	b, err := prepare(c)
	if err != nil {
		return nil, fmt.Errorf("open bridge %s: %w", c.Bridge, err)
	}
	if err := b.do(ctx, "open bridge "+c.Bridge, b.start); err != nil {
		_ = b.Close() // it never fails
		return nil, err
	}
	return b, nil
}

func prepare(c Config) (*Bridge, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	tool, err := findTool("ovs-ofctl")
	if err != nil {
		return nil, err
	}
	host, err := newHost(c.Ports)
	if err != nil {
		return nil, err
	}
	b := &Bridge{config: c, tool: tool, host: host, events: eventqueue.New(), link: newLink(), spelling: spelling{},
		info: Info{Bridge: c.Bridge, RunDir: c.RunDir, Database: c.Database}}
	b.life, b.end = context.WithCancel(context.Background())
	return b, nil
}

// start makes the first connections and leaves them to the goroutines that watch them.
func (b *Bridge) start(ctx context.Context) error {
	db, err := openDatabase(ctx, b.config.Database)
	if err != nil {
		return unavailable(ctx, "connect to "+b.config.Database, err)
	}
	session, err := b.startSwitch(ctx, db)
	if err != nil {
		db.Close()
		return err
	}
	b.workers.Go(func() { b.watchDatabase(db) })
	b.workers.Go(func() { b.watchSwitch(session) })
	return nil
}

func (b *Bridge) startSwitch(ctx context.Context, db *database) (*ovsproto.Session, error) {
	if _, err := b.configure(ctx, db); err != nil {
		return nil, err
	}
	version, err := b.appctl(ctx, "version")
	if err != nil {
		return nil, err
	}
	b.note(func(i *Info) { i.Version = versionNumber(version) })
	return b.connect(ctx)
}

// Info is what is known of the switch.
func (b *Bridge) Info() Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// note changes what is known of the switch, and tells it if that makes a difference.
func (b *Bridge) note(change func(*Info)) {
	b.noting.Lock()
	defer b.noting.Unlock()
	before := b.Info()
	after := before
	change(&after)
	if reflect.DeepEqual(before, after) {
		return
	}
	b.mu.Lock()
	b.info = after
	b.mu.Unlock()
	if b.config.Changed != nil {
		b.config.Changed(after)
	}
}

// Events implements datapath.Bridge.
func (b *Bridge) Events() <-chan datapath.Event { return b.events.Events() }

// Close implements datapath.Bridge. It ends calls that are in progress.
func (b *Bridge) Close() error {
	b.closing.Do(func() {
		b.end()
		b.workers.Wait()
		b.host.close()
		b.events.Close()
	})
	return nil
}

// do runs one call: bounded in time, and not after Close.
func (b *Bridge) do(ctx context.Context, what string, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if b.life.Err() != nil {
		return fmt.Errorf("%s: %w", what, datapath.ErrClosed)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.config.Timeout, errTimeout)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	stop := context.AfterFunc(b.life, func() { abort(datapath.ErrClosed) })
	defer stop()
	if err := call(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
