//go:build linux

package realtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hpnn/datapath"
	"hpnn/model"
	"hpnn/testbed"
)

// bed is a Site as a testbed.Bed.
type bed struct {
	site    Site
	config  testbed.BedConfig
	began   time.Time
	node    *node
	hosts   *hosts
	passed  passages // what is known of frames that passed the switch:
	watched bool     // of all of them; else of those that a machine was told to send
	bridge  datapath.Bridge
	wake    chan struct{} // has an element when something came that the story may wait for
}

var (
	_ testbed.Bed    = (*bed)(nil)
	_ testbed.Hosts  = (*hosts)(nil)
	_ testbed.Node   = (*node)(nil)
	_ testbed.Switch = (*switcher)(nil)
)

const (
	// callTimeout bounds whatever is done at once: a start of the daemon, a restart of the switch.
	callTimeout = 30 * time.Second
	// lookEvery is how often the story looks around while it waits.
	lookEvery = 20 * time.Millisecond
	// askEvery is how often the daemon is asked how things are.
	askEvery = 50 * time.Millisecond
)

// Open starts the daemon of a site for a topology. The site is closed if that fails.
func Open(s Site, t model.Topology, c testbed.BedConfig) (testbed.Bed, error) {
	b := &bed{site: s, config: c, began: time.Now(), wake: make(chan struct{}, 1)}
	if err := b.open(t); err != nil {
		return nil, errors.Join(fmt.Errorf("open bed %s: %w", s.Name(), err), b.Close())
	}
	return b, nil
}

func (b *bed) open(t model.Topology) (err error) {
	if b.hosts, err = newHosts(b); err != nil {
		return err
	}
	if w, ok := b.site.(Watched); ok && b.config.Tap != nil && b.Can(testbed.Taps) == nil {
		if err := w.Watch(b.passed.take); err != nil {
			return err
		}
		b.watched = true
	}
	b.node = newNode(b, t)
	if err := b.node.Start(); err != nil {
		return err
	}
	ctx, cancel := bounded()
	defer cancel()
	b.bridge, err = b.site.Bridge(ctx)
	return err
}

func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callTimeout)
}

// Name implements testbed.Bed.
func (b *bed) Name() string { return b.site.Name() }

// Can implements testbed.Bed.
func (b *bed) Can(f testbed.Feature) error { return b.site.Can(f) }

// Now implements testbed.Bed.
func (b *bed) Now() time.Duration { return time.Since(b.began) }

// Hosts implements testbed.Bed.
func (b *bed) Hosts() testbed.Hosts { return b.hosts }

// Node implements testbed.Bed.
func (b *bed) Node() testbed.Node { return b.node }

// Switch implements testbed.Bed.
func (b *bed) Switch() testbed.Switch { return (*switcher)(b) }

// Until implements testbed.Bed.
func (b *bed) Until(done func() bool, limit time.Duration) bool {
	end := b.Now() + limit
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		b.tell()
		if done() {
			return true
		}
		left := end - b.Now()
		if left <= 0 {
			return false
		}
		select {
		case <-b.wake:
		case <-look.C:
		case <-time.After(left):
		}
	}
}

// tell brings to the story what has come.
func (b *bed) tell() {
	if b.config.Tap != nil {
		b.passed.tell(b.config.Tap)
	}
	b.hosts.tell()
	b.node.tell()
}

// came says that something has come.
func (b *bed) came() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Close implements testbed.Bed.
func (b *bed) Close() error {
	var err error
	if b.bridge != nil {
		err = b.bridge.Close()
	}
	if b.hosts != nil {
		b.hosts.close()
	}
	return errors.Join(err, b.site.Close())
}

// Keep writes what helps to find out why a story failed, if the site can.
func (b *bed) Keep(ctx context.Context, dir string) error {
	if k, ok := b.site.(testbed.Keeper); ok {
		return k.Keep(ctx, dir)
	}
	return nil
}

// switcher is the switch of a bed.
type switcher bed

// Bridge implements testbed.Switch.
func (s *switcher) Bridge() datapath.Bridge { return s.bridge }

// Restart implements testbed.Switch.
func (s *switcher) Restart() error {
	ctx, cancel := bounded()
	defer cancel()
	return s.site.RestartSwitch(ctx)
}

// Fail implements testbed.Switch. No fault can be put between two processes: a story that asks for one is not told.
func (s *switcher) Fail(testbed.Outage) int { return 0 }
