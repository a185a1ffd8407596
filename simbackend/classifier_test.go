package simbackend

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/flow"
)

// linear is the classifier's slow twin: a list that is searched from end to end.
type linear []*rule

func (l linear) lookup(k *flow.Key) *rule {
	var best *rule
	for _, r := range l {
		if satisfies(r, k) && (best == nil || r.flow.Priority > best.flow.Priority ||
			r.flow.Priority == best.flow.Priority && r.seq < best.seq) {
			best = r
		}
	}
	return best
}

func satisfies(r *rule, k *flow.Key) bool {
	for _, t := range r.flow.Match.Terms() {
		if k.Get(t.Field).And(t.Mask) != t.Value {
			return false
		}
	}
	return true
}

// randomMatch draws from few fields, values and masks, so that matches overlap and repeat.
func randomMatch(r *rand.Rand) (m openflow.Match) {
	for range r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			m = m.With(openflow.Reg0, openflow.U64(r.Uint64N(3)))
		case 1:
			m = m.WithMask(openflow.Metadata, openflow.U64(r.Uint64N(16)), openflow.U64(r.Uint64N(16)))
		case 2:
			n := int(r.UintN(3)) * 8
			m = m.WithMask(openflow.IPDst, openflow.U64(uint64(10+r.IntN(2))<<24|r.Uint64N(2)<<16), openflow.PrefixMask(n, 32))
		case 3:
			m = m.With(openflow.InPort, openflow.U64(r.Uint64N(3)))
		}
	}
	return m
}

func randomKey(r *rand.Rand) (k flow.Key) {
	k.Set(openflow.Reg0, openflow.U64(r.Uint64N(3)))
	k.Set(openflow.Metadata, openflow.U64(r.Uint64N(16)))
	k.Set(openflow.IPDst, openflow.U64(uint64(10+r.IntN(2))<<24|r.Uint64N(2)<<16))
	k.SetInPort(uint16(r.UintN(3)))
	return k
}

func TestClassifierAgreesWithLinearSearch(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var c classifier
			var twin linear
			for step := range 300 {
				if len(twin) > 0 && r.IntN(3) == 0 {
					i := r.IntN(len(twin))
					c.remove(twin[i])
					twin = append(twin[:i:i], twin[i+1:]...)
				} else if x := newRule(&c, randomMatch(r), uint16(r.UintN(4)), uint64(step+1)); x != nil {
					c.insert(x)
					twin = append(twin, x)
				}
				require.Equal(t, len(twin), c.count)
				for range 5 {
					k := randomKey(r)
					require.Same(t, twin.lookup(&k), c.lookup(&k), "step %d", step)
				}
			}
		})
	}
}

// newRule is a rule for c, or nil if that has one of the same key.
func newRule(c *classifier, m openflow.Match, priority uint16, seq uint64) *rule {
	if find(c, m, priority) != nil {
		return nil
	}
	r := &rule{flow: openflow.Flow{Match: m, Priority: priority}, priority: priority, seq: seq}
	value, mask := flow.Compile(m)
	c.condition(r, &value, &mask)
	return r
}

func find(c *classifier, m openflow.Match, priority uint16) *rule {
	value, mask := flow.Compile(m)
	return c.exact(&value, &mask, priority)
}

func TestClassifierFindsEveryRuleItHolds(t *testing.T) {
	var c classifier
	var rules []*rule
	for i := range 2000 {
		x := newRule(&c, openflow.Match{}.With(openflow.Reg1, openflow.U64(uint64(i))), uint16(i%7), uint64(i+1))
		c.insert(x)
		rules = append(rules, x)
	}
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	for len(rules) > 0 {
		for _, x := range rules[:min(len(rules), 20)] {
			require.Same(t, x, find(&c, x.flow.Match, x.priority))
		}
		c.remove(rules[0])
		rules = rules[1:]
	}
	require.Empty(t, c.probes)
}

func BenchmarkClassifierLookup(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var c classifier
			for i := range n {
				m := openflow.Match{}.With(openflow.Reg1, openflow.U64(uint64(i))).
					WithMask(openflow.IPDst, openflow.Value{}, openflow.PrefixMask(i%16, 32))
				c.insert(newRule(&c, m, uint16(100+i%16), uint64(i+1)))
			}
			r := rand.New(rand.NewPCG(1, 1))
			keys := make([]flow.Key, 1024)
			for i := range keys {
				keys[i].Set(openflow.Reg1, openflow.U64(r.Uint64N(uint64(n))))
			}
			b.ResetTimer()
			for i := range b.N {
				c.lookup(&keys[i%len(keys)])
			}
		})
	}
}
