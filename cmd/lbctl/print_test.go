package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpnn/internal/replay"
)

func TestGridAligns(t *testing.T) {
	g := newGrid("NAME", ">COUNT", "NOTE")
	g.add("é", 7, "")
	g.add("longer", 1234567, "x")
	var b bytes.Buffer
	g.write(&b, false)
	require.Equal(t, "NAME      COUNT  NOTE\né             7\nlonger  1234567  x\n", b.String())
	b.Reset()
	newGrid("NAME").write(&b, false)
	require.Empty(t, b.String(), "no heading without rows")
	g.write(&b, true)
	require.True(t, strings.HasPrefix(b.String(), "\x1b[1mNAME "), "the heading is emphasised")
}

func TestTextIsBroken(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"indivisible", 4, []string{"indivisible"}},
		{"a  b\nc", 10, []string{"a b c"}},
	} {
		require.Equal(t, test.want, wrap(test.text, test.width))
	}
	require.Equal(t, "fits", shorten("fits", 4))
	require.Equal(t, "Drops it …", shorten("Drops it, and counts it", 16))
	require.Equal(t, "Drops it …", shorten("Drops it and counts it", 12))
}

func TestOrdinals(t *testing.T) {
	var all []string
	for _, n := range []int{2, 3, 4, 11, 12, 13, 21, 22, 111, 256} {
		all = append(all, ordinal(n))
	}
	require.Equal(t, "2nd 3rd 4th 11th 12th 13th 21st 22nd 111th 256th", strings.Join(all, " "))
}

func TestColoursAreForThoseWhoWantThem(t *testing.T) {
	require.Equal(t, "x", paint(false).in(red, "x"))
	require.Equal(t, "\x1b[31mx\x1b[0m", paint(true).in(red, "x"))
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	require.True(t, coloursWanted())
	t.Setenv("NO_COLOR", "1")
	require.False(t, coloursWanted())
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	require.False(t, coloursWanted())
	require.False(t, isTerminal(&bytes.Buffer{}))
}

func TestProgressShowsWhenWorkIsLong(t *testing.T) {
	half := replay.Progress{Frames: 3_000_000, Done: 50, Total: 100}
	for _, total := range []int64{100, 0} {
		var b bytes.Buffer
		long := progress{out: &b, begun: time.Now().Add(-time.Hour)}
		half.Total = total
		long.update(half)
		long.finish()
		require.Contains(t, b.String(), "3000000 frames")
	}
	var b bytes.Buffer
	brief := progress{out: &b, begun: time.Now().Add(time.Hour)}
	brief.update(half)
	brief.finish()
	require.Empty(t, b.String())
	nobody := progress{}
	nobody.update(half)
	nobody.finish()
}

func TestProgressTellsFramesRateAndTimeLeft(t *testing.T) {
	at := replay.Progress{Frames: 3_000_000, Done: 50, Total: 200}
	require.Equal(t, "3000000 frames, 1.5 M frames/s, 6s left", describe(at, 2*time.Second))
	at.Frames = 25_000
	require.Equal(t, "25000 frames, 12.5 k frames/s, 6s left", describe(at, 2*time.Second))
	require.Equal(t, "10 frames, 5 frames/s", describe(replay.Progress{Frames: 10, Done: 7}, 2*time.Second), "of a pipe nobody knows the end")
}
