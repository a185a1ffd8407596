package main

import (
	"fmt"
	"strings"
)

// A promise is a figure that must be reached: at least, or at most, so much.
type promise struct {
	words  string
	figure func(record) float64 // 0: not measured
	least  float64              // one of the two is 0
	most   float64
	unit   string
}

const (
	frame = "benchovs.Frame/switch="
	build = "maglev.Build/slots="
)

var promises = []promise{
	{words: "full pipeline, 64 connections", figure: mega(frame + "sim/flows=64"), least: 5, unit: "M frames/s"},
	{words: "the same against OVS-DPDK, cached, 64 connections", figure: times(frame+"ovs-cached/flows=64", frame+"sim/flows=64"), least: 1.5, unit: "x"},
	{words: "1,000 connections", figure: times(frame+"ovs-cached/flows=1000", frame+"sim/flows=1000"), least: 2.5, unit: "x"},
	{words: "10,000 connections", figure: times(frame+"ovs-cached/flows=10000", frame+"sim/flows=10000"), least: 3.5, unit: "x"},
	{words: "every frame a new connection", figure: times(frame+"ovs-upcall/flows=new", frame+"sim/flows=new"), least: 20, unit: "x"},
	{words: "trace as a structure", figure: mega("benchovs.Structure/switch=sim"), least: 0.3, unit: "M/s"},
	{words: "trace as text against pipelined ofproto/trace", figure: times("benchovs.Trace/switch=ovs-upcall", "benchovs.Trace/switch=sim"), least: 20, unit: "x"},
	{words: "load 1,071 rules from text", figure: milli("simbackend.Load/rules=1071"), most: 1.5, unit: "ms"},
	{words: "load 100,000 rules from text", figure: milli("simbackend.Load/rules=100000"), most: 100, unit: "ms"},
	{words: "memory of a flow", figure: func(r record) float64 { return r.get("simbackend.Memory", "bytes/flow") }, most: 400, unit: "bytes"},
	{words: "an idle hour in steps of a second", figure: milli("simbackend.IdleHour"), most: 5, unit: "ms"},
	{words: "a story of 1,000 frames", figure: milli("simbackend.Story"), most: 3, unit: "ms"},
	{words: "replay of 1,000,000 frames, one core", figure: func(r record) float64 { return r.get("replay.Run/flows=64/cores=1", "Mframes/s") }, least: 2, unit: "M frames/s"},
	{words: "cost of a frame, 100,000 rules to 1,000", figure: times("simbackend.Rules/rules=100000", "simbackend.Rules/rules=1000"), most: 2, unit: "x"},
	{words: "cost of a frame, 1,000 pools to 1", figure: times("simbackend.Pools/pools=1000", "simbackend.Pools/pools=1"), most: 2, unit: "x"},
	{words: "slot table 1024/4", figure: micro(build + "1024/members=4/maglev"), most: 4, unit: "us"},
	{words: "slot table 1024/4 against the matrix", figure: times("maglev.Textbook/slots=1024/members=4", build+"1024/members=4/maglev"), least: 20, unit: "x"},
	{words: "slot table 65521/1000", figure: milli(build + "65521/members=1000/maglev"), most: 1.5, unit: "ms"},
	{words: "slot table 65521/1000 against the matrix", figure: times("maglev.Textbook/slots=65521/members=1000", build+"65521/members=1000/maglev"), least: 20, unit: "x"},
	{words: "what a failure changes among 100 pools of 1,024 slots", figure: milli("pipeline.Loss/100pools/change"), most: 20, unit: "ms"},
	{words: "its commit to real OVS, 1,024 flows", figure: milliUnit("ovsbackend.Change/1024flows", "binary-ms"), most: 3, unit: "ms"},
	{words: "its commit to real OVS, 100,000 flows", figure: milliUnit("ovsbackend.Change/100000flows", "binary-ms"), most: 10, unit: "ms"},
}

// mega is how many million times a second a benchmark's work is done.
func mega(key string) func(record) float64 {
	return func(r record) float64 {
		if r.seconds(key) == 0 {
			return 0
		}
		return 1e-6 / r.seconds(key)
	}
}

func milli(key string) func(record) float64 {
	return func(r record) float64 { return 1e3 * r.seconds(key) }
}

func micro(key string) func(record) float64 {
	return func(r record) float64 { return 1e6 * r.seconds(key) }
}

func milliUnit(key, unit string) func(record) float64 {
	return func(r record) float64 { return r.get(key, unit) }
}

func times(slow, fast string) func(record) float64 {
	return func(r record) float64 { return r.ratio(slow, fast) }
}

// tables are the figures of docs/performance.md.
func (r record) tables() string {
	var b strings.Builder
	b.WriteString("| What | Promised | Measured | Reached |\n|---|--:|--:|---|\n")
	for _, p := range promises {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.words, p.bar(), p.judge(p.figure(r)))
	}
	b.WriteString("\nNanoseconds of one core for a frame through all that is rendered for `examples/hpnn.yaml`, and what OVS with DPDK takes:\n\n")
	b.WriteString("| Connections | Simulator | OVS, cached | Ratio | OVS, every frame an upcall | Ratio |\n|--:|--:|--:|--:|--:|--:|\n")
	for _, flows := range []string{"1", "64", "1000", "10000", "100000", "new"} {
		fmt.Fprintf(&b, "| %s | %s |", flows, nanos(r.seconds(frame+"sim/flows="+flows)))
		for _, way := range []string{"ovs-cached", "ovs-upcall"} {
			other := frame + way + "/flows=" + flows
			fmt.Fprintf(&b, " %s | %s |", nanos(r.seconds(other)), factor(r.ratio(other, frame+"sim/flows="+flows)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (p promise) bar() string {
	if p.least > 0 {
		return fmt.Sprintf("at least %g %s", p.least, p.unit)
	}
	return fmt.Sprintf("under %g %s", p.most, p.unit)
}

// judge tells the figure, and whether it is the one promised, or how near.
func (p promise) judge(figure float64) string {
	near := figure / p.least
	if p.most > 0 {
		near = p.most / figure
	}
	switch {
	case figure == 0:
		return "- | not measured"
	case near >= 1:
		return fmt.Sprintf("%.3g %s | yes", figure, p.unit)
	}
	return fmt.Sprintf("%.3g %s | no, %.0f %% of the way", figure, p.unit, 100*near)
}

func nanos(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", 1e9*seconds)
}

func factor(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f x", x)
}
