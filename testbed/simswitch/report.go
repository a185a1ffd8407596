package simswitch

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/simbackend"
)

// passage is a frame that came in and what became of it, on its way to another process.
type passage struct {
	In        datapath.Injection
	Out       []datapath.Output
	PacketIns int
	// Of the last lookup, if nothing left.
	Table   openflow.TableID
	Matched bool
	Flow    string
	Err     string
}

// newPassage keeps what a switch tells of a frame. The frames of out are its own already.
func newPassage(in datapath.Injection, out []datapath.Output, v simbackend.Verdict) passage {
	in.Frame = bytes.Clone(in.Frame)
	p := passage{In: in, Out: out, PacketIns: v.PacketIns}
	if v.Err != nil {
		p.Err = v.Err.Error()
	}
	if len(out) == 0 && v.Matched {
		p.Table, p.Matched, p.Flow = v.Table, true, v.Flow.String()
	}
	return p
}

func (p passage) verdict() (v simbackend.Verdict, err error) {
	v = simbackend.Verdict{Outputs: len(p.Out), PacketIns: p.PacketIns, Table: p.Table, Matched: p.Matched}
	if p.Err != "" {
		v.Err = errors.New(p.Err)
	}
	if p.Matched {
		if v.Flow, err = openflow.ParseFlow(p.Flow); err != nil {
			return v, fmt.Errorf("read flow %q: %w", p.Flow, err)
		}
	}
	return v, nil
}

// Watch connects to a switch's socket for reports and hands over what becomes of each frame from then on, in order, until the
// connection is closed or the switch ends. What was handed over may be kept.
func Watch(socket string, take func(datapath.Injection, []datapath.Output, simbackend.Verdict)) (io.Closer, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("watch switch: %w", err)
	}
	in := gob.NewDecoder(conn)
	var ready passage // says that nothing is missed from here on
	if err := in.Decode(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("watch switch: %w", err), conn.Close())
	}
	go func() {
		for {
			var p passage
			if in.Decode(&p) != nil {
				return
			}
			if v, err := p.verdict(); err == nil {
				take(p.In, p.Out, v)
			}
		}
	}()
	return conn, nil
}
