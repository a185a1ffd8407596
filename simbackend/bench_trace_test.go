package simbackend_test

import (
	"io"
	"testing"

	"hpnn/datapath"
	"hpnn/simbackend"
)

// BenchmarkTrace tells what would happen to the SYN of a connection that the node knows, among many: as a tree, and as the text
// that ofproto/trace prints.
func BenchmarkTrace(b *testing.B) {
	traced(b, func(sw *simbackend.Switch, in datapath.Injection) (datapath.Trace, error) {
		return sw.Trace(b.Context(), in)
	})
}

// BenchmarkExplain executes the frame and tells what happened.
func BenchmarkExplain(b *testing.B) {
	traced(b, func(sw *simbackend.Switch, in datapath.Injection) (datapath.Trace, error) {
		_, t := sw.Explain(in, nil)
		return t, nil
	})
}

// BenchmarkAppendTrace tells it as text alone.
func BenchmarkAppendTrace(b *testing.B) {
	sw, _ := nodeSwitch(b, "hpnn.yaml")
	frames, text := syns(1_000), []byte(nil)
	for _, f := range frames {
		sw.Receive(datapath.Injection{InPort: 1, Frame: f}, nil)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		var err error
		if text, err = sw.AppendTrace(b.Context(), text[:0], datapath.Injection{InPort: 1, Frame: frames[n%len(frames)]}); err != nil {
			b.Fatal(err)
		}
	}
}

func traced(b *testing.B, trace func(*simbackend.Switch, datapath.Injection) (datapath.Trace, error)) {
	sw, _ := nodeSwitch(b, "hpnn.yaml")
	frames := syns(1_000)
	for _, f := range frames {
		sw.Receive(datapath.Injection{InPort: 1, Frame: f}, nil)
	}
	next := 0
	one := func() datapath.Trace {
		next = (next + 1) % len(frames)
		t, err := trace(sw, datapath.Injection{InPort: 1, Frame: frames[next]})
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.Run("structured", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one()
		}
	})
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			io.WriteString(io.Discard, one().String())
		}
	})
}
