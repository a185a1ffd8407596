package replay

import (
	"sync"
	"time"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/pcap"
	"hpnn/simbackend"
)

// Bounds of a batch. A few hundred frames make handing them over cheap; the bytes bound memory.
const (
	batchFrames = 512
	batchBytes  = 256 << 10
)

// batch is a run of frames on its way through the stages of a replay: read, executed, accounted for.
type batch struct {
	items  []item
	data   []byte // the frames' bytes; it never moves while frames are in it
	parts  []part // what each shard sent
	shards sync.WaitGroup
}

// item is a frame, and what became of it once its shard has executed it.
type item struct {
	pcap.Record
	input    int
	now      time.Duration
	shard    int
	from, to int // of what left, in its shard's part; if nothing did, from is the verdict's place
}

// part is what came of the frames of a batch that one shard executed.
type part struct {
	outs        []departure
	bytes       []byte
	verdicts    []simbackend.Verdict // of frames because of which nothing left
	flows, conn int                  // the most that its switch ever had
}

// departure is a frame that left: size bytes of its part from at on.
type departure struct {
	port     openflow.PortNo
	at, size int
}

func newBatch(shards int) *batch {
	return &batch{
		items: make([]item, 0, batchFrames),
		data:  make([]byte, 0, batchBytes+pcap.MaxFrame),
		parts: make([]part, shards),
	}
}

func (b *batch) reset() {
	b.items, b.data = b.items[:0], b.data[:0]
	for i := range b.parts {
		p := &b.parts[i]
		p.outs, p.bytes, p.verdicts = p.outs[:0], p.bytes[:0], p.verdicts[:0]
	}
}

func (b *batch) full() bool { return len(b.items) == batchFrames || len(b.data) >= batchBytes }

// add copies a frame into the batch.
func (b *batch) add(input int, rec *pcap.Record, now time.Duration, shard int) {
	at := len(b.data)
	b.data = append(b.data, rec.Data...)
	b.items = append(b.items, item{Record: *rec, input: input, now: now, shard: shard})
	b.items[len(b.items)-1].Data = b.data[at:len(b.data):len(b.data)]
}

// execute runs the frames of one shard through its switch.
func (b *batch) execute(shard int, sw *simbackend.Switch, ports []openflow.PortNo, deliver func(datapath.Output)) {
	p := &b.parts[shard]
	for i := range b.items {
		it := &b.items[i]
		if it.shard != shard {
			continue
		}
		sw.Advance(it.now)
		it.from = len(p.outs)
		v := sw.Receive(datapath.Injection{InPort: ports[it.input], Frame: it.Data}, deliver)
		if it.to = len(p.outs); it.from == it.to {
			it.from = len(p.verdicts)
			it.to = it.from
			p.verdicts = append(p.verdicts, v)
		}
	}
	p.flows, p.conn = sw.Peak()
}

// take notes a frame that left.
func (p *part) take(o datapath.Output) {
	p.outs = append(p.outs, departure{o.Port, len(p.bytes), len(o.Frame)})
	p.bytes = append(p.bytes, o.Frame...)
}

// outcome is what came of one frame.
type outcome struct {
	outs    []departure
	bytes   []byte              // that outs are in
	verdict *simbackend.Verdict // only if nothing left
}

// outcome gives what came of a frame of the batch.
func (b *batch) outcome(it *item) outcome {
	p := &b.parts[it.shard]
	if it.from == it.to {
		return outcome{verdict: &p.verdicts[it.from]}
	}
	return outcome{outs: p.outs[it.from:it.to], bytes: p.bytes}
}
