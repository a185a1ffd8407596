package main

import (
	"math/rand/v2"
	"slices"

	"hpnn/internal/maglev"
)

// Other ways to share out slots, in their plainest form, to compare with.

// walkTries is how many random pools stand behind a number here: it is the tail that matters.
const walkTries = 300

// walkSizes are the numbers of members compared.
var walkSizes = []int{3, 4, 10, 32}

// A walkRow is what the first failure does to pools of one size, by one way.
type walkRow struct {
	way     string
	members int
	foreign spread // in per cent of the slots
	p99     float64
	over    spread // the largest share above the fair one, in per cent of it
}

// A way lays out a table for members of equal weight, each with a random seed: the owner of each slot.
type way struct {
	name  string
	slots int
	build func(seeds []uint64, slots int) []int
}

var ways = []way{
	{"the paper's walk, 1021 slots", 1021, func(seeds []uint64, slots int) []int {
		return takeTurns(seeds, slots, func(x uint64) int { return 1 + int(x%uint64(slots-1)) })
	}},
	{"the paper's walk, odd steps, 1024 slots", slots, func(seeds []uint64, slots int) []int {
		return takeTurns(seeds, slots, func(x uint64) int { return int(x%uint64(slots)) | 1 })
	}},
	{"rendezvous, 1024 slots", slots, rendezvous},
}

func measureWalks() ([]walkRow, error) {
	var rows []walkRow
	for _, n := range walkSizes {
		for _, w := range ways {
			rows = append(rows, measureWalk(w, n))
		}
		for _, a := range algorithms {
			r, err := measureOurs(a, n)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func measureWalk(w way, members int) walkRow {
	random := rand.New(rand.NewPCG(1, uint64(members)))
	var t tails
	for range walkTries {
		seeds := make([]uint64, members)
		for i := range seeds {
			seeds[i] = random.Uint64()
		}
		with, without := w.build(seeds, w.slots), w.build(seeds[1:], w.slots)
		foreign, largest := 0, make([]int, members)
		for slot, o := range with {
			largest[o]++
			if o > 0 && without[slot] != o-1 {
				foreign++
			}
		}
		t.add(percent(foreign, w.slots), slices.Max(largest), float64(w.slots)/float64(members))
	}
	return t.row(w.name, members)
}

func measureOurs(a maglev.Algorithm, members int) (walkRow, error) {
	random := rand.New(rand.NewPCG(2, uint64(members)))
	var t tails
	for range walkTries {
		before, after, err := change{edit: kill}.make(random, a, members)
		if err != nil {
			return walkRow{}, err
		}
		largest := 0
		for _, s := range before.Shares() {
			largest = max(largest, s.Slots)
		}
		t.add(percent(maglev.Disruption(before, after).Foreign, slots), largest, float64(slots)/float64(members))
	}
	return t.row(a.String()+", 1024 slots", members), nil
}

// tails collects tries.
type tails struct{ foreign, over []float64 }

func (t *tails) add(foreign float64, largest int, fair float64) {
	t.foreign = append(t.foreign, foreign)
	t.over = append(t.over, 100*(float64(largest)/fair-1))
}

func (t *tails) row(way string, members int) walkRow {
	r := walkRow{way: way, members: members, foreign: summary(t.foreign), over: summary(t.over)}
	slices.Sort(t.foreign)
	r.p99 = t.foreign[len(t.foreign)*99/100]
	return r
}

// takeTurns is the table of the Maglev paper (section 3.4): each member prefers the slots offset, offset+step,
// offset+2*step and so on, and takes the next free one when it is its turn.
func takeTurns(seeds []uint64, slots int, step func(uint64) int) []int {
	owner := slices.Repeat([]int{-1}, slots)
	at, steps := make([]int, len(seeds)), make([]int, len(seeds))
	for i, s := range seeds {
		at[i], steps[i] = int(s>>32)%slots, step(s&0xffffffff)
	}
	for turn := range slots {
		i := turn % len(seeds)
		for owner[at[i]] >= 0 {
			at[i] = (at[i] + steps[i]) % slots
		}
		owner[at[i]] = i
	}
	return owner
}

// rendezvous gives each slot to the member whose hash with it is highest (Thaler, Ravishankar 1998).
func rendezvous(seeds []uint64, slots int) []int {
	owner := make([]int, slots)
	for slot := range owner {
		best := uint64(0)
		for i, s := range seeds {
			if h := rand.NewPCG(s, uint64(slot)).Uint64(); h >= best {
				best, owner[slot] = h, i
			}
		}
	}
	return owner
}
