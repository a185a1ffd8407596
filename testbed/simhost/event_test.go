package simhost

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimersFireInOrder compares timers that are moved about at random with a list.
func TestTimersFireInOrder(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := New(Config{})
		var fired, want []int
		due := map[int]time.Duration{}
		timers := make([]*timer, 20)
		for i := range timers {
			timers[i] = &timer{queue: &w.queue, fire: func() {
				fired = append(fired, i)
				require.Equal(t, due[i], w.now)
				delete(due, i)
			}}
		}
		for range 300 {
			i := random.IntN(len(timers))
			switch random.IntN(4) {
			case 0:
				timers[i].stop()
				delete(due, i)
			case 1:
				want = append(want, expire(due, w.now, w.now+10)...)
				w.Advance(10)
			default:
				d := time.Duration(random.IntN(50))
				timers[i].reset(d)
				due[i] = w.now + d
			}
		}
		want = append(want, expire(due, w.now, w.now+1000)...)
		w.Advance(1000)
		require.ElementsMatch(t, want, fired)
		require.Empty(t, due)
		_, ok := w.Next()
		require.False(t, ok)
	}
}

// expire lists what is due until a time, without taking it out.
func expire(due map[int]time.Duration, from, to time.Duration) (ids []int) {
	for i, at := range due {
		if at <= to {
			ids = append(ids, i)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestEventsOfOneMomentHappenInOrder(t *testing.T) {
	w := New(Config{})
	var got []int
	for i := range 100 {
		w.After(time.Second, func() { got = append(got, i) })
	}
	w.After(time.Millisecond, func() { w.At(0, func() { got = append(got, -1) }) }) // the past is now
	w.Advance(time.Second)
	require.Len(t, got, 101)
	require.Equal(t, -1, got[0])
	require.True(t, slices.IsSorted(got))
	require.Equal(t, time.Second, w.Now())
	require.Equal(t, DefaultEpoch.Add(time.Second), w.Wall())
	require.False(t, w.Step())
}

// TestPuttingOffCostsNoEvent: a timer that is moved on and on has one event in the queue.
func TestPuttingOffCostsNoEvent(t *testing.T) {
	w := New(Config{})
	n := 0
	timer := &timer{queue: &w.queue, fire: func() { n++ }}
	for range 1000 {
		timer.reset(time.Second)
		w.Advance(time.Millisecond)
	}
	require.LessOrEqual(t, len(w.heap), 1)
	w.Advance(998 * time.Millisecond)
	require.Zero(t, n)
	w.Advance(time.Millisecond)
	require.Equal(t, 1, n)
}
