package replay

import (
	"context"
	"fmt"
	"io"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/simbackend"
)

// Config is what is replayed, through what, and where the result goes.
type Config struct {
	Node   Node
	Inputs []Input
	Out    string // a directory for the frames that leave, one capture a port; "": none

	// Explain, unless nil, is called after every frame. What it is given is valid during the call.
	Explain func(Step)
	// Progress, unless nil, is called now and then with the bytes read of the captures as they are
	// stored, and their size, 0 if it is not known.
	Progress func(done, total int64)
}

// Step is one frame and what became of it.
type Step struct {
	Number  int // from 1, over all captures
	InPort  openflow.PortNo
	Place   Place
	Frame   []byte
	Verdict simbackend.Verdict
	Trace   datapath.Trace // with the frames that left
	Reason  Reason         // why nothing left; "" if something did or the frame is held
	Held    bool
}

// Run replays captures. The error is Faults if a capture could be read only in part, or not at
// all: then the report covers what could be read. With any other error there is no report.
func Run(ctx context.Context, c Config) (Report, error) {
	r, err := newRunner(ctx, c)
	if err != nil {
		return Report{}, err
	}
	defer r.close()
	if err := r.loop(ctx); err != nil {
		return Report{}, err
	}
	if err := r.out.close(); err != nil {
		return Report{}, err
	}
	report, err := r.acc.report(ctx, r.sw)
	if err != nil {
		return Report{}, err
	}
	return report, report.Faults.orNil()
}

// runner is a replay under way.
type runner struct {
	Config
	sw      *simbackend.Switch
	acc     *account
	out     *outputs
	inputs  []Input // those that could be opened, and their readers
	readers []*pcap.Reader

	number int           // of frames so far
	start  int64         // time of the first, nanoseconds since 1970
	now    time.Duration // since then
}

func newRunner(ctx context.Context, c Config) (*runner, error) {
	sw, err := c.Node.Switch(ctx)
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c, sw: sw, acc: newAccount(c.Node)}
	if err := r.open(); err != nil {
		r.close()
		return nil, err
	}
	if r.out, err = openOutputs(c.Out, c.Node); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// open opens the captures. One that is none is a fault; one that cannot be read at all is an error.
func (r *runner) open() error {
	for _, in := range r.Inputs {
		reader, err := in.open()
		if err == nil {
			r.inputs, r.readers = append(r.inputs, in), append(r.readers, reader)
			continue
		}
		faults := faultsOf(err)
		if faults[0].File == "" {
			return err
		}
		r.acc.Faults = append(r.acc.Faults, faults...)
	}
	return nil
}

func (r *runner) close() {
	for _, reader := range r.readers {
		reader.Close()
	}
	r.sw.Close()
}

// pulse is how many frames pass between looks at the context and calls of Progress.
const pulse = 512

func (r *runner) loop(ctx context.Context) error {
	frames := pcap.Merge(r.readers...)
	for {
		source, rec, err := frames.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			r.acc.Faults = append(r.acc.Faults, faultsOf(err)...)
			return nil
		}
		r.frame(source, rec)
		if r.out.err != nil {
			return r.out.close()
		}
		if r.number%pulse == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("replay stopped after %d frames: %w", r.number, err)
			}
			r.progress()
		}
	}
}

func (r *runner) progress() {
	if r.Progress == nil {
		return
	}
	var done, total int64
	for _, reader := range r.readers {
		d, t := reader.Progress()
		done, total = done+d, total+t
	}
	r.Progress(done, total)
}

// frame replays one frame.
func (r *runner) frame(source int, rec pcap.Record) {
	if r.number++; r.number == 1 {
		r.start = rec.Time
	}
	r.now = max(r.now, time.Duration(rec.Time-r.start))
	r.sw.Advance(r.now)
	in := datapath.Injection{InPort: r.inputs[source].Port, Frame: rec.Data}
	place := func() Place {
		return Place{r.Node.PortName(in.InPort), r.inputs[source].Path, rec.Index, rec.At()}
	}
	r.acc.begin(r.start, r.now, in, rec.Snapped())
	emit := func(o datapath.Output) {
		r.acc.left(o)
		r.out.write(r.start+int64(r.now), o)
	}
	if r.Explain == nil {
		v := r.sw.Receive(in, emit)
		r.acc.end(&v, place)
		return
	}
	v, trace := r.sw.Explain(in, emit)
	reason, held := r.acc.end(&v, place)
	r.Explain(Step{Number: r.number, InPort: in.InPort, Place: place(), Frame: rec.Data,
		Verdict: v, Trace: trace, Reason: reason, Held: held})
}
