package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/internal/shard"
	"hpnn/simbackend/conntrack"
)

// batchesUnderWay bounds the batches in memory.
const batchesUnderWay = 6

// stages replays on several cores: one goroutine reads and places frames, one for each shard executes
// its own, and one accounts for all of them in the order of the captures and writes what left.
//
//	read, place ──┬─> shard 0 ──┬─> account, write
//	              ├─> shard 1 ──┤   in the order they came
//	              └─> ...     ──┘
//
// With a single shard that is a pipeline, which suits any program.
type stages struct {
	*runner
	placer   *shard.Placer // nil: there is one shard
	switches switches
	ports    []openflow.PortNo // of the inputs

	free  chan *batch
	work  []chan *batch // to the shards
	order chan *batch   // to the account, in the order they were read
	done  chan struct{} // closed when the account is complete

	failed atomic.Pointer[error] // why the account cannot go on
	read   clock
}

// notApart is why a replay that was begun with several shards has to begin again with one.
type notApart struct{ why error }

func (e notApart) Error() string { return fmt.Sprintf("cannot be executed apart: %v", e.why) }

var (
	errManyConnections = errors.New("so many connections are tracked that the limit on all of them may be met")
	errManyLessons     = errors.New("so many flows are learned that a limit on all of them may be met")
)

// newStages makes the switches of the shards, of which the session's is the first.
func newStages(ctx context.Context, r *runner, placer *shard.Placer, shards int) (*stages, error) {
	s := &stages{
		runner: r, placer: placer,
		free: make(chan *batch, batchesUnderWay), order: make(chan *batch, batchesUnderWay), done: make(chan struct{}),
	}
	for _, in := range r.inputs {
		s.ports = append(s.ports, in.Port)
	}
	for range shards - 1 {
		sw, err := r.Node.Switch(ctx)
		if err != nil {
			return nil, err
		}
		r.session.more = append(r.session.more, sw)
	}
	s.switches = r.session.switches()
	for range batchesUnderWay {
		s.free <- newBatch(shards)
	}
	for range shards {
		s.work = append(s.work, make(chan *batch, batchesUnderWay))
	}
	return s, nil
}

// loop reads to the end of the captures, or to the first frame that cannot be executed apart.
func (s *stages) loop(ctx context.Context) error {
	for i := range s.switches {
		go s.execute(i)
	}
	go s.account()
	err := s.place(ctx)
	for _, w := range s.work {
		close(w)
	}
	close(s.order)
	<-s.done
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	for _, sw := range s.switches {
		sw.Advance(s.read.now)
	}
	return err
}

// place reads frames and hands them over in batches.
func (s *stages) place(ctx context.Context) error {
	frames := pcap.Merge(s.readers...)
	b := <-s.free
	defer func() { s.hand(b) }()
	for {
		source, rec, err := frames.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			s.faults = append(s.faults, faultsOf(err)...)
			return nil
		}
		home := 0
		if s.placer != nil {
			if home, err = s.placer.Place(s.ports[source], rec.Data); err != nil {
				return notApart{fmt.Errorf("%s frame %d: %w", s.inputs[source].Path, rec.Index, err)}
			}
		}
		s.read.tick(rec.Time)
		b.add(source, rec, s.read.now, home)
		if b.full() {
			s.hand(b)
			b = <-s.free
			if err := s.pause(ctx); err != nil {
				return err
			}
		}
	}
}

// hand gives a batch to all shards and, behind them, to the account.
func (s *stages) hand(b *batch) {
	b.shards.Add(len(s.work))
	for _, w := range s.work {
		w <- b
	}
	s.order <- b
}

// pause looks up between batches.
func (s *stages) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("replay stopped after %d frames: %w", s.read.frames, err)
	}
	s.progress(s.read.frames)
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// execute is the goroutine of a shard.
func (s *stages) execute(shard int) {
	var p *part
	deliver := func(o datapath.Output) { p.take(o) }
	for b := range s.work[shard] {
		p = &b.parts[shard]
		b.execute(shard, s.switches[shard], s.ports, deliver)
		b.shards.Done()
	}
}

// account is the goroutine that tells what became of the frames, one after the other.
func (s *stages) account() {
	defer close(s.done)
	for b := range s.order {
		b.shards.Wait()
		if s.failed.Load() == nil {
			if err := s.settle(b); err != nil {
				s.failed.Store(&err)
			}
		}
		b.reset()
		s.free <- b
	}
}

// settle accounts for a batch and writes what left.
func (s *stages) settle(b *batch) error {
	for i := range b.items {
		it := &b.items[i]
		in := &s.inputs[it.input]
		s.session.settle(&Frame{in.Port, in.Path, it.Record}, b.outcome(it), s.write)
	}
	if s.out.err != nil {
		return s.out.err
	}
	return s.withinLimits(b)
}

// withinLimits demands that no limit on all shards together has been met.
func (s *stages) withinLimits(b *batch) error {
	if s.placer == nil {
		return nil
	}
	flows, conns := 0, 0
	for i := range b.parts {
		flows += b.parts[i].flows - s.Node.Program.Len()
		conns += b.parts[i].conn
	}
	if conns > conntrack.DefaultMaxConns {
		return notApart{errManyConnections}
	}
	if limit := s.placer.Learned; limit >= 0 && flows > limit {
		return notApart{errManyLessons}
	}
	return nil
}
