package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"hpnn/internal/maglev"
)

// slots is the size of every table measured: the default of a pool.
const slots = 1024

// tries is how many random pools stand behind a number.
const tries = 40

// sizes are the numbers of members measured.
var sizes = []int{2, 3, 4, 6, 8, 10, 16, 32, 64}

// algorithms are the layouts compared.
var algorithms = []maglev.Algorithm{maglev.Maglev, maglev.MaglevStable}

// A change is what happens to a pool of whose members so many are dead.
type change struct {
	name string
	dead int
	edit func(p *maglev.Pool, victim int)
}

var changes = []change{
	{"first failure", 0, kill},
	{"second failure", 1, kill},
	{"fifth failure", 4, kill},
	{"member added", 0, func(p *maglev.Pool, _ int) {
		p.Members = append(p.Members, maglev.Member{Key: "10.99.99.99:8080", Weight: 1, Live: true})
	}},
	{"weight doubled", 0, func(p *maglev.Pool, victim int) { p.Members[victim].Weight = 2 }},
}

func kill(p *maglev.Pool, victim int) { p.Members[victim].Live = false }

// A spread is what became of many tries: per cent of the slots, or slots.
type spread struct{ mean, worst float64 }

// A row is what was measured of pools of one size laid out by one algorithm.
type row struct {
	members   int
	algorithm maglev.Algorithm
	foreign   []spread // per change: slots moved that need not have, in per cent; negative if there are too few members
	unfair    float64  // the farthest a share was from the fair one, in slots
}

// Measurements are all that the plot and the tables show.
type measurements struct {
	rows  []row
	walks []walkRow
	maps  []slotMap
}

func measure() (m measurements, err error) {
	for _, n := range sizes {
		for _, a := range algorithms {
			r, err := measureRow(n, a)
			if err != nil {
				return m, err
			}
			m.rows = append(m.rows, r)
		}
	}
	if m.walks, err = measureWalks(); err != nil {
		return m, err
	}
	for _, a := range algorithms {
		s, err := drawMap(a)
		if err != nil {
			return m, err
		}
		m.maps = append(m.maps, s)
	}
	return m, nil
}

// measureRow makes every change to the same random pools, whatever the algorithm.
func measureRow(members int, a maglev.Algorithm) (row, error) {
	r := row{members: members, algorithm: a}
	for i, c := range changes {
		if members <= c.dead+1 {
			r.foreign = append(r.foreign, spread{-1, -1})
			continue
		}
		random := rand.New(rand.NewPCG(uint64(i), uint64(members)))
		var percents []float64
		for range tries {
			before, after, err := c.make(random, a, members)
			if err != nil {
				return r, err
			}
			percents = append(percents, percent(maglev.Disruption(before, after).Foreign, slots))
			r.unfair = max(r.unfair, unfair(before), unfair(after))
		}
		r.foreign = append(r.foreign, summary(percents))
	}
	return r, nil
}

// make lays out a random pool before and after the change.
func (c change) make(random *rand.Rand, a maglev.Algorithm, members int) (before, after maglev.Table, err error) {
	p := randomPool(random, a, members)
	order := random.Perm(members)
	for _, i := range order[1 : 1+c.dead] {
		p.Members[i].Live = false
	}
	if before, err = maglev.Build(p); err != nil {
		return before, after, err
	}
	p.Members = slices.Clone(p.Members)
	c.edit(&p, order[0])
	after, err = maglev.Build(p)
	return before, after, err
}

// randomPool has live members of equal weight at random addresses.
func randomPool(random *rand.Rand, a maglev.Algorithm, members int) maglev.Pool {
	p := maglev.Pool{ID: uint16(1 + random.IntN(65535)), Slots: slots, Algorithm: a}
	for i := range members {
		key := fmt.Sprintf("10.%d.%d.%d:8080", random.IntN(256), i, 1+random.IntN(254))
		p.Members = append(p.Members, maglev.Member{Key: key, Weight: 1, Live: true})
	}
	return p
}

// unfair is the distance of the worst share from the fair one, in slots.
func unfair(t maglev.Table) (worst float64) {
	for _, s := range t.Shares() {
		worst = max(worst, math.Abs(float64(s.Slots)-s.Fair))
	}
	return worst
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

func summary(values []float64) spread {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return spread{sum / float64(len(values)), slices.Max(values)}
}

// A slotMap is what the death of one of four members does to each slot of one table.
type slotMap struct {
	algorithm maglev.Algorithm
	moved     []bool // per slot
	foreign   []bool // and it need not have
}

// mapPool is the pool of examples/hpnn.yaml.
func mapPool(a maglev.Algorithm) maglev.Pool {
	p := maglev.Pool{ID: 1, Slots: slots, Algorithm: a}
	for _, key := range []string{"10.20.0.2:8080", "10.30.0.2:8080", "10.20.0.3:8080", "10.30.0.3:8080"} {
		p.Members = append(p.Members, maglev.Member{Key: key, Weight: 1, Live: true})
	}
	return p
}

func drawMap(a maglev.Algorithm) (m slotMap, err error) {
	p := mapPool(a)
	before, err := maglev.Build(p)
	if err != nil {
		return m, err
	}
	dead := p.Members[0].Key
	p.Members[0].Live = false
	after, err := maglev.Build(p)
	m = slotMap{a, make([]bool, slots), make([]bool, slots)}
	for slot := range slots {
		from, _ := before.Owner(slot)
		to, _ := after.Owner(slot)
		m.moved[slot] = from != to
		m.foreign[slot] = from != to && from != dead
	}
	return m, err
}

// counts returns how many slots moved, and how many need not have.
func (m slotMap) counts() (moved, foreign int) {
	for slot := range m.moved {
		if m.moved[slot] {
			moved++
		}
		if m.foreign[slot] {
			foreign++
		}
	}
	return moved, foreign
}
