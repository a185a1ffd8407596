package main

import (
	"fmt"
	"io"
	"path"
	"regexp"

	"golang.org/x/perf/benchfmt"
)

// A record is the best of each figure measured: by package, benchmark and unit, such as "maglev.Build/slots=1024 sec/op".
type record map[string]float64

// moreIsBetter are the units of which the largest figure is the best.
var moreIsBetter = map[string]bool{"Mframes/s": true}

// processors is what go test appends to a name.
var processors = regexp.MustCompile(`-\d+$`)

// read reads benchmark output. Times come out in seconds.
func read(r io.Reader, name string) (record, error) {
	figures := record{}
	for b := benchfmt.NewReader(r, name); b.Scan(); {
		switch line := b.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			key := path.Base(line.GetConfig("pkg")) + "." + processors.ReplaceAllString(string(line.Name), "")
			for _, v := range line.Values {
				figures.add(key+" "+v.Unit, v.Value, moreIsBetter[v.Unit])
			}
		}
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("read record %s: no benchmarks in it", name)
	}
	return figures, nil
}

func (r record) add(key string, value float64, more bool) {
	if old, known := r[key]; !known || more == (value > old) {
		r[key] = value
	}
}

// get is a figure, or 0 if it was not measured.
func (r record) get(key, unit string) float64 { return r[key+" "+unit] }

// seconds is the time that a benchmark takes.
func (r record) seconds(key string) float64 { return r.get(key, "sec/op") }

// ratio is how many times as long one benchmark takes as another; 0 if either was not measured.
func (r record) ratio(slow, fast string) float64 {
	if r.seconds(fast) == 0 {
		return 0
	}
	return r.seconds(slow) / r.seconds(fast)
}
