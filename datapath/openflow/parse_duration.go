package openflow

import (
	"strings"
	"time"
)

type durationField time.Duration

func durationKey(target func(*flowParser) *durationField) func(*flowParser, text) error {
	return func(p *flowParser, t text) error {
		d, err := t.duration()
		*target(p) = durationField(d)
		return err
	}
}

// maxSeconds is more than a duration of OpenFlow, 32 bits of seconds, can be.
const maxSeconds = 1 << 32

// duration reads "5", "5s" or "5.012s", with at most nine decimals.
func (t text) duration() (time.Duration, error) {
	if inner, ok := strings.CutSuffix(t.s, "s"); ok {
		t = t.to(len(inner))
	}
	whole, decimals, _ := t.cut(".")
	seconds, err := whole.uint(64)
	if err != nil {
		return 0, err
	}
	if seconds >= maxSeconds {
		return 0, t.fault("duration is too long", "")
	}
	ns := uint64(0)
	for i := range 9 {
		digit := byte('0')
		if i < len(decimals.s) {
			digit = decimals.s[i]
		}
		if digit < '0' || digit > '9' || len(decimals.s) > 9 {
			return 0, t.fault("not a number of seconds", "write it as 5.012s")
		}
		ns = ns*10 + uint64(digit-'0')
	}
	return time.Duration(seconds)*time.Second + time.Duration(ns), nil
}
