package conntrack

import (
	"math"
	"math/bits"
)

// wheel is a hierarchical timing wheel: connections, by the tick at which somebody has to look at them. See
// G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987).
//
// An entry stands in the level of the highest digit in which its tick differs from the wheel's, in the
// slot of that digit. When the wheel comes to a slot above the lowest level, what is in it moves down.
type wheel struct {
	tick  tick // all before are done
	slots [wheelLevels][1 << wheelBits]*timers
	used  [wheelLevels]uint64 // a bit for each slot that is not empty
	spare *timers             // emptied
}

// timers are some of a slot, and those before them.
type timers struct {
	list   [126]timer
	n      int
	before *timers
}

// timer is an entry: a connection's number.
type timer struct {
	id  uint32
	due tick
}

const (
	wheelBits   = 6
	wheelLevels = (tickSize + wheelBits - 1) / wheelBits
	wheelMask   = 1<<wheelBits - 1
	tickSize    = 32
	tickBits    = 10 // of the milliseconds in a tick
)

// tick is a time in units of 1,024 ms; it lasts for 139 years.
type tick uint32

// never is behind all ticks.
const never tick = math.MaxUint32

func tickOf(ms int64) tick { return tick(ms >> tickBits) }

// add enters a timer. What is due before the wheel's tick comes with that.
func (w *wheel) add(t timer) {
	at := max(t.due, w.tick)
	level := max(0, bits.Len32(uint32(at^w.tick))-1) / wheelBits
	digit := at >> (level * wheelBits) & wheelMask
	last := w.slots[level][digit]
	if last == nil || last.n == len(last.list) {
		last = w.more(level, digit)
	}
	last.list[last.n] = t
	last.n++
}

// more makes room in a slot.
func (w *wheel) more(level int, digit tick) *timers {
	fresh := w.spare
	if fresh == nil {
		fresh = new(timers)
	} else {
		w.spare = fresh.before
	}
	fresh.n, fresh.before = 0, w.slots[level][digit]
	w.slots[level][digit] = fresh
	w.used[level] |= 1 << digit
	return fresh
}

// next is the first tick at which the wheel has something to do, and on which level; ok is false if it is
// empty.
func (w *wheel) next() (at tick, level int, ok bool) {
	for level := range wheelLevels {
		shift := level * wheelBits
		digit := w.tick >> shift & wheelMask
		if ahead := w.used[level] >> digit << digit; ahead != 0 {
			upper := w.tick >> (shift + wheelBits) << wheelBits
			return (upper | tick(bits.TrailingZeros64(ahead))) << shift, level, true
		}
	}
	return 0, 0, false
}

// advance moves the wheel to a tick and takes out the timers that are due by then. What take enters for that tick
// comes in this call or the next.
func (w *wheel) advance(to tick, take func([]timer)) {
	for {
		at, level, ok := w.next()
		if !ok || at > to {
			w.tick = max(w.tick, to)
			return
		}
		w.tick = at
		for some := w.empty(level, at>>(level*wheelBits)&wheelMask); some != nil; {
			if level == 0 {
				take(some.list[:some.n])
			} else {
				for _, t := range some.list[:some.n] {
					w.add(t)
				}
			}
			done := some
			some = some.before
			done.before, w.spare = w.spare, done
		}
		if level == 0 && at == to {
			return
		}
	}
}

// empty takes the timers of a slot out.
func (w *wheel) empty(level int, digit tick) *timers {
	all := w.slots[level][digit]
	w.slots[level][digit] = nil
	w.used[level] &^= 1 << digit
	return all
}
