package eventqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/datapath"
	"hpnn/internal/eventqueue"
)

// A reader that sleeps loses packets and then ports, but neither a beginning nor an end.
func TestEventsOfASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := eventqueue.New()
		const rounds = 2000
		for range rounds {
			for _, kind := range []datapath.EventKind{datapath.Connected, datapath.PacketIn, datapath.PortStatus, datapath.Disconnected} {
				e.Put(datapath.Event{Kind: kind})
			}
		}
		synctest.Wait()
		count := map[datapath.EventKind]int{}
		go func() {
			time.Sleep(time.Second)
			e.Close()
		}()
		last := datapath.Disconnected
		for event := range e.Events() {
			count[event.Kind]++
			if event.Kind == datapath.Connected || event.Kind == datapath.Disconnected {
				require.NotEqual(t, last, event.Kind, "they take turns")
				last = event.Kind
			}
		}
		require.Equal(t, rounds, count[datapath.Connected])
		require.Equal(t, rounds, count[datapath.Disconnected])
		require.Less(t, count[datapath.PacketIn], count[datapath.PortStatus])
		require.Positive(t, count[datapath.PacketIn])
		require.Less(t, count[datapath.PortStatus], rounds)
	})
}
