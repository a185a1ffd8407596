package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// underWay is how many requests the daemon is given ahead of its answers.
const underWay = 16

type request struct {
	ID     int      `json:"id"`
	Method string   `json:"method"`
	Params []string `json:"params"`
}

type response struct {
	Result *string `json:"result"`
	Error  *string `json:"error"`
}

// trace measures ofproto/trace of the frames, over one connection kept open that always has requests under way. What counts is how
// long the daemon's main thread runs, which does nothing else.
func (l *lab) trace(ctx context.Context, port uint32, frames [][]byte, window time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", l.path("vs.ctl"))
	if err != nil {
		return 0, fmt.Errorf("connect to ovs-vswitchd: %w", err)
	}
	ended := make(chan error, 1)
	var answered atomic.Int64
	go func() { ended <- exchange(ctx, conn, port, frames, &answered) }()
	each, err := best(ctx, window, func() (count, error) {
		cpu, err := l.threadTime("ovs-vswitchd")
		return count{n: int(answered.Load()), cpu: cpu}, err
	})
	cancel()
	_ = conn.Close()
	if failed := <-ended; failed != nil && err == nil {
		err = failed
	}
	return each, err
}

// exchange asks until the context ends, and counts the answers.
func exchange(ctx context.Context, conn net.Conn, port uint32, frames [][]byte, answered *atomic.Int64) error {
	requests := make([][]byte, len(frames))
	for i, f := range frames {
		data, err := json.Marshal(request{i, "ofproto/trace", []string{bridge, fmt.Sprintf("in_port=%d", port), hex.EncodeToString(f)}})
		if err != nil {
			return fmt.Errorf("encode trace: %w", err)
		}
		requests[i] = data
	}
	answers := json.NewDecoder(conn)
	for n := 0; ctx.Err() == nil; n++ {
		if _, err := conn.Write(requests[n%len(requests)]); err != nil {
			return unlessOver(ctx, fmt.Errorf("ask for a trace: %w", err))
		}
		if n < underWay {
			continue
		}
		var r response
		if err := answers.Decode(&r); err != nil {
			return unlessOver(ctx, fmt.Errorf("read a trace: %w", err))
		}
		if r.Error != nil {
			return fmt.Errorf("trace: %s", *r.Error)
		}
		answered.Add(1)
	}
	return nil
}

// unlessOver forgives what happens because the measurement is over.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
