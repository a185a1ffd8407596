package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"hpnn/datapath"
	"hpnn/internal/pcap"
	"hpnn/internal/shard"
)

// Config is what is replayed, through what, and where the result goes.
type Config struct {
	Node   Node
	Inputs []Input
	Out    string // a directory for the frames that leave, one capture a port; "": none
	Cores  int    // that may be used at a time; 0: one. The result does not depend on it

	// Explain, unless nil, is called after every frame. What it is given is valid during the call.
	Explain func(Step)
	// Progress, unless nil, is called now and then.
	Progress func(Progress)
}

// Progress is how far a replay has come.
type Progress struct {
	Frames int   // executed
	Done   int64 // bytes read of the captures as they are stored, a little more than was executed
	Total  int64 // size of the captures as they are stored, 0 if it is not known
}

// Run replays captures. The error is Faults if a capture could be read only in part, or not at
// all: then the report covers what could be read. With any other error there is no report.
func Run(ctx context.Context, c Config) (Report, error) {
	p := c.plan()
	report, err := p.run(ctx, c)
	if apart, again := errors.AsType[notApart](err); again {
		p = plan{shards: 1, why: apart.why}
		report, err = p.run(ctx, c)
	}
	report.Shards = max(p.shards, 1)
	if p.why != nil {
		report.Together = p.why.Error()
	}
	return report, err
}

// plan is how a replay uses cores.
type plan struct {
	shards int           // 0: all stages take turns on one
	placer *shard.Placer // nil: there is one shard at most
	why    error         // there is one, although more are wanted
}

func (c *Config) plan() plan {
	if c.Cores <= 1 || c.Explain != nil {
		return plan{}
	}
	for _, in := range c.Inputs {
		if in.Src != nil {
			return plan{shards: 1, why: fmt.Errorf("%s cannot be read a second time, should a frame turn up that other frames depend on", in.Path)}
		}
	}
	placer, err := shard.New(c.Node.Program, c.Cores)
	if err != nil {
		return plan{shards: 1, why: err}
	}
	return plan{shards: c.Cores, placer: placer}
}

func (p plan) run(ctx context.Context, c Config) (Report, error) {
	r, err := newRunner(ctx, c)
	if err != nil {
		return Report{}, err
	}
	defer r.close()
	if err := r.replay(ctx, p); err != nil {
		return Report{}, err
	}
	if err := r.out.close(); err != nil {
		return Report{}, err
	}
	report, err := r.session.Report(ctx)
	if err != nil {
		return Report{}, err
	}
	report.Faults = r.faults
	return report, r.faults.orNil()
}

func (r *runner) replay(ctx context.Context, p plan) error {
	if p.shards == 0 {
		return r.loop(ctx)
	}
	s, err := newStages(ctx, r, p.placer, p.shards)
	if err != nil {
		return err
	}
	return s.loop(ctx)
}

// runner is a replay under way.
type runner struct {
	Config
	session *Session
	out     *outputs
	faults  Faults
	inputs  []Input // those that could be opened, and their readers
	readers []*pcap.Reader
	write   func(at int64, o datapath.Output)
}

func newRunner(ctx context.Context, c Config) (*runner, error) {
	session, err := NewSession(ctx, c.Node)
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c, session: session, faults: Faults{}}
	if err := r.open(); err != nil {
		r.close()
		return nil, err
	}
	if r.out, err = openOutputs(c.Out, c.Node); err != nil {
		r.close()
		return nil, err
	}
	r.write = r.out.write
	return r, nil
}

// open opens the captures. One that is none is a fault; one that cannot be read at all is an error.
func (r *runner) open() error {
	for _, in := range r.Inputs {
		reader, err := in.open()
		if err == nil {
			reader.ReadAhead()
			r.inputs, r.readers = append(r.inputs, in), append(r.readers, reader)
			continue
		}
		faults := faultsOf(err)
		if faults[0].File == "" {
			return err
		}
		r.faults = append(r.faults, faults...)
	}
	return nil
}

func (r *runner) close() {
	for _, reader := range r.readers {
		reader.Close()
	}
	if r.out != nil {
		r.out.close()
	}
	r.session.Close()
}

// pulse is how many frames pass between looks at the context and calls of Progress.
const pulse = 512

func (r *runner) loop(ctx context.Context) error {
	frames := pcap.Merge(r.readers...)
	var f Frame
	for n := 1; ; n++ {
		source, rec, err := frames.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			r.faults = append(r.faults, faultsOf(err)...)
			return nil
		}
		in := &r.inputs[source]
		f.Port, f.Path, f.Record = in.Port, in.Path, *rec
		r.frame(&f)
		if r.out.err != nil {
			return r.out.close()
		}
		if n%pulse == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("replay stopped after %d frames: %w", n, err)
			}
			r.progress(n)
		}
	}
}

func (r *runner) frame(f *Frame) {
	if r.Explain == nil {
		r.session.receive(f, r.write)
	} else {
		r.Explain(r.session.Explain(*f, r.write))
	}
}

func (r *runner) progress(frames int) {
	if r.Progress == nil {
		return
	}
	p := Progress{Frames: frames}
	known := true
	for _, reader := range r.readers {
		done, total := reader.Progress()
		p.Done, p.Total = p.Done+done, p.Total+total
		known = known && total > 0
	}
	if !known {
		p.Total = 0
	}
	r.Progress(p)
}
