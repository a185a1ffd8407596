package pcap_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// capture makes a reader over frames with the given times, named "<name><number>".
func capture(t testing.TB, name string, times ...int64) *pcap.Reader {
	return captureCut(t, 0, name, times...)
}

// captureCut is capture with the last bytes of the file missing.
func captureCut(t testing.TB, missing int, name string, times ...int64) *pcap.Reader {
	var out bytes.Buffer
	w := pcap.NewWriter(&out)
	for i, at := range times {
		require.NoError(t, w.Write(pcap.Record{Time: at, Data: fmt.Appendf(nil, "%s%d", name, i+1)}))
	}
	require.NoError(t, w.Close())
	r, err := pcap.NewReader(bytes.NewReader(out.Bytes()[:out.Len()-missing]), name)
	require.NoError(t, err)
	return r
}

// mergeAll lists a merge as "data@time" words, and the error that ended it.
func mergeAll(m *pcap.Merger) (string, error) {
	var words []string
	for {
		source, rec, err := m.Next()
		if err != nil {
			return strings.Join(words, " "), err
		}
		words = append(words, fmt.Sprintf("%d:%s@%d", source, rec.Data, rec.Time))
	}
}

func TestMerge(t *testing.T) {
	type times = []int64
	for _, c := range []struct {
		name    string
		a, b, c times
		want    string
	}{
		{"by time", times{1, 4, 6}, times{2, 5}, times{3}, "0:a1@1 1:b1@2 2:c1@3 0:a2@4 1:b2@5 0:a3@6"},
		{"equal times in the order of the arguments", times{5, 5}, times{5}, times{5, 5}, "0:a1@5 0:a2@5 1:b1@5 2:c1@5 2:c2@5"},
		{"some are empty", nil, times{1}, nil, "1:b1@1"},
		{"all are empty", nil, nil, nil, ""},
		{"steps back in one file", times{10, 5, 11}, times{4, 7, 10, 12}, nil, "1:b1@4 1:b2@7 0:a1@10 0:a2@5 1:b3@10 0:a3@11 1:b4@12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mergeAll(pcap.Merge(capture(t, "a", c.a...), capture(t, "b", c.b...), capture(t, "c", c.c...)))
			require.Equal(t, io.EOF, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestMergeOfNothing(t *testing.T) {
	_, err := mergeAll(pcap.Merge())
	require.Equal(t, io.EOF, err)
}

func TestMergeReadsOnAfterAFault(t *testing.T) {
	m := pcap.Merge(captureCut(t, 1, "a", 1, 2, 3), capture(t, "b", 2, 9), captureCut(t, 17, "c", 1, 8))
	got, err := mergeAll(m)
	require.Equal(t, "0:a1@1 2:c1@1 0:a2@2 1:b1@2 1:b2@9", got)
	requireFault(t, err, pcap.Truncated, 24+18, 2) // the first of them
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "c: frame 2 at offset 42: truncated")
	require.Contains(t, lines[1], "a: frame 3 at offset 60: truncated")
}

// The slow twin: read everything, sort stably.
func TestMergeAgainstSorting(t *testing.T) {
	type item struct {
		source int
		time   int64
		data   string
	}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var readers []*pcap.Reader
		var want, got []item
		for s := range rng.IntN(20) {
			times := make([]int64, rng.IntN(30))
			for i := range times {
				times[i] = rng.Int64N(50)
			}
			slices.Sort(times)
			readers = append(readers, capture(t, "f", times...))
			for i, at := range times {
				want = append(want, item{s, at, fmt.Sprintf("f%d", i+1)})
			}
		}
		slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.time, b.time) })
		m := pcap.Merge(readers...)
		for {
			source, rec, err := m.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			got = append(got, item{source, rec.Time, string(rec.Data)})
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// Frames of a capture keep their order whatever their stamps.
func TestMergeKeepsEachFilesOrder(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var readers []*pcap.Reader
		total := 0
		for range 1 + rng.IntN(6) {
			times := make([]int64, rng.IntN(20))
			for i := range times {
				times[i] = rng.Int64N(30)
			}
			total += len(times)
			readers = append(readers, capture(t, "f", times...))
		}
		m := pcap.Merge(readers...)
		seen := make([]int, len(readers))
		for range total {
			source, rec, err := m.Next()
			require.NoError(t, err)
			seen[source]++
			require.Equal(t, seen[source], rec.Index)
		}
		_, _, err := m.Next()
		require.Equal(t, io.EOF, err)
	}
}
