package pcap_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// bothOrders runs a test for each byte order.
func bothOrders(t *testing.T, test func(*testing.T, order)) {
	t.Run("little-endian", func(t *testing.T) { test(t, binary.LittleEndian) })
	t.Run("big-endian", func(t *testing.T) { test(t, binary.BigEndian) })
}

// list prints frames one a line, for goldens a person can read.
func list(frames []frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%d @%d %d.%09d %q of %d\n", f.Index, f.Offset, f.Time/1e9, f.Time%1e9, f.Data, f.OrigLen)
	}
	return b.String()
}

// One file with everything: two sections of different byte order, several interfaces and
// clocks, every packet block, and blocks to step over between them.
func TestNGGolden(t *testing.T) {
	le, be := newNG(binary.LittleEndian), newNG(binary.BigEndian)
	le.port(1, 0).
		enhanced(0, 1_700_000_000_000_001, "default microseconds", 20).
		block(5, []uint32{0, 1, 2}, "interface statistics").
		port(1, 0, le.option(2, "eth1"), le.option(9, "\x09"), le.option(0, "")).
		enhanced(1, 1_700_000_000_000_000_002, "nano", 1514, le.option(1, "a comment"), le.option(0, "")).
		block(0xbad, []uint32{32473}, "custom").
		port(1, 6, le.option(9, "\x83")).
		obsolete(2, 1_700_000_000<<3|5, "eighths", 7).
		simple("simple", 6)
	be.port(1, 6, be.option(14, be.u64(1_000_000_000)), be.option(9, "\x03")).
		simple("simple", 99).
		block(4, nil, "names").
		enhanced(0, 700_000_000_001, "offset", 6).
		enhanced(0, 0, "", 0)
	got, err := readBytes(append(le.out, be.out...))
	require.NoError(t, err)
	require.Equal(t, `1 @48 1700000000.000001000 "default microseconds" of 20
2 @184 1700000000.000000002 "nano" of 1514
3 @292 1700000000.625000000 "eighths" of 7
4 @332 1700000000.625000000 "simple" of 6
5 @424 1700000000.625000000 "simple" of 99
6 @468 1700000000.001000000 "offset" of 6
7 @508 1000000000.000000000 "" of 0
`, list(got))
}

func TestSimpleBlockIsCutToTheInterfacesLimit(t *testing.T) {
	bothOrders(t, func(t *testing.T, o order) {
		got, err := readBytes(newNG(o).port(1, 4).simple("abcdefgh", 8).simple("ab", 2).out)
		require.NoError(t, err)
		require.Equal(t, "1 @48 0.000000000 \"abcd\" of 8\n2 @72 0.000000000 \"ab\" of 2\n", list(got))
	})
}

func TestTimeResolutions(t *testing.T) {
	for _, c := range []struct {
		resol  byte
		offset int64
		ticks  uint64
		ns     int64
	}{
		{0, 0, 1234, 1234e9},
		{3, 0, 1234, 1234e6},
		{6, 0, 1234, 1234e3},
		{9, 0, 1<<63 - 1_000_000_000_000, 1<<63 - 1_000_000_000_000},
		{12, 0, 1999, 1},
		{18, 0, 1<<64 - 1, 18446744073},
		{19, 0, 1<<64 - 1, 1844674407},
		{0x80, 0, 7, 7e9},
		{0x80 + 10, 0, 1025, 1e9 + 976562},
		{0x80 + 63, 0, 3 << 62, 1.5e9},
		{6, -10, 1_000_001, -9e9 + 1000},
		{6, 9e9, 0, 9e18},
	} {
		g := newNG(binary.BigEndian)
		g.port(1, 0, g.option(9, string([]byte{c.resol})), g.option(14, g.u64(uint64(c.offset)))).enhanced(0, c.ticks, "", 0)
		got, err := readBytes(g.out)
		require.NoError(t, err, "%+v", c)
		require.Equal(t, c.ns, got[0].Time, "%+v", c)
	}
}

func TestNGFaults(t *testing.T) {
	type file = *ngFile
	for _, c := range []struct {
		name    string
		build   func(f file) []byte // after section, interface and one frame, at offset 84
		problem pcap.Problem
		says    string
	}{
		{"block head cut", func(f file) []byte { return f.enhanced(0, 0, "x", 1).out[:84+11] }, pcap.Truncated, "the shortest block has 12 bytes, 11 are there"},
		{"packet head cut", func(f file) []byte { return f.enhanced(0, 0, "x", 1).out[:84+27] }, pcap.Truncated, "the block has 36 bytes, 27 are there"},
		{"frame cut", func(f file) []byte { return f.enhanced(0, 0, "xyz", 3).out[:84+30] }, pcap.Truncated, "the frame has 3 bytes, 2 are there"},
		{"unknown block cut", func(f file) []byte { return f.block(99, nil, "abcd").out[:84+14] }, pcap.Truncated, "the block has 16 bytes, 14 are there"},
		{"interface block cut", func(f file) []byte { return f.port(1, 0).out[:84+18] }, pcap.Truncated, "the block has 20 bytes, 18 are there"},
		{"second section cut", func(f file) []byte { return f.section().out[:84+14] }, pcap.Truncated, "the section header has 28 bytes, 14 are there"},
		{"length no multiple of 4", func(f file) []byte { return f.bend(4, 33).out }, pcap.BadLength, "33 bytes"},
		{"length below the least", func(f file) []byte { return f.bend(4, 28).out }, pcap.BadLength, "a block of type 0x6 and 28 bytes; at least 32"},
		{"frame longer than its block", func(f file) []byte { return f.bend(20, 9).out }, pcap.BadBlock, "a frame of 9 bytes in a block with room for 8"},
		{"absurd frame", func(f file) []byte { return f.bend(20, 1<<31).out }, pcap.BadLength, "a frame of 2147483648 bytes"},
		{"undeclared interface", func(f file) []byte { return f.enhanced(1, 0, "x", 1).out }, pcap.BadBlock, "a frame of interface 1, but the section has declared 1"},
		{"undeclared in the new section", func(f file) []byte { return f.obsolete(9, 0, "x", 1).out }, pcap.BadBlock, "interface 9"},
		{"time too late", func(f file) []byte { return f.enhanced(0, 1<<63, "x", 1).out }, pcap.BadTime, "outside the years 1678 to 2262"},
		{"resolution too fine", func(f file) []byte { return f.port(1, 0, f.option(9, "\x14")).out }, pcap.BadTime, "resolution 0x14"},
		{"binary resolution too fine", func(f file) []byte { return f.port(1, 0, f.option(9, "\xc0")).out }, pcap.BadTime, "resolution 0xc0"},
		{"resolution of two bytes", func(f file) []byte { return f.port(1, 0, f.option(9, "\x06\x06")).out }, pcap.BadBlock, "time option 9 of an interface has 2 bytes"},
		{"offset too far", func(f file) []byte { return f.port(1, 0, f.option(14, f.u64(1<<62))).out }, pcap.BadTime, "a time offset of"},
		{"option beyond its block", func(f file) []byte { return f.port(1, 0, "\x01\x01\x01\x01").out }, pcap.BadBlock, "option 257 of an interface has 257 bytes, 0 are there"},
		{"interface block too long", func(f file) []byte { return f.port(1, 0, strings.Repeat("\x00", pcap.MaxFrame)).out }, pcap.BadLength, "an interface block of 262164 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothOrders(t, func(t *testing.T, o order) {
				b := c.build(newNG(o).port(1, 0).enhanced(0, 1, "good", 4))
				got, err := readBytes(b)
				require.Equal(t, "1 @48 0.000001000 \"good\" of 4\n", list(got), "what came before the fault is given")
				requireFault(t, err, c.problem, 84, 2)
				require.ErrorContains(t, err, c.says)
			})
		})
	}
}

// bend appends a good block of 40 bytes with the word at the given offset replaced.
func (f *ngFile) bend(at int, word uint32) *ngFile {
	start := len(f.out)
	f.enhanced(0, 0, "eightbts", 8)
	f.PutUint32(f.out[start+at:], word)
	return f
}

func TestNGFaultsElsewhere(t *testing.T) {
	bothOrders(t, func(t *testing.T, o order) {
		good := func() *ngFile { return newNG(o).port(1, 0).enhanced(0, 1, "good", 4) }

		f := good()
		f.PutUint32(f.out[80:], 37)
		got, err := readBytes(f.out)
		require.Len(t, got, 1, "the frame of a block with a bad end is still a frame")
		requireFault(t, err, pcap.BadBlock, 48, 2)
		require.ErrorContains(t, err, "begins with length 36 and ends with 37")

		got, err = readBytes(good().out[:82])
		require.Len(t, got, 1)
		requireFault(t, err, pcap.Truncated, 48, 2)
		require.ErrorContains(t, err, "the block has 36 bytes, 34 are there")

		f = good().section()
		f.PutUint16(f.out[84+12:], 2)
		_, err = readBytes(f.out)
		requireFault(t, err, pcap.BadHeader, 96, 2)
		require.ErrorContains(t, err, "pcapng version 2.0")

		f = good().section()
		f.out[84+8]++
		_, err = readBytes(f.out)
		requireFault(t, err, pcap.BadMagic, 92, 2)

		f = newNG(o)
		f.out[8]++
		_, err = readBytes(f.out)
		requireFault(t, err, pcap.BadMagic, 8, 0)
		_, err = readBytes(newNG(o).out[:10])
		requireFault(t, err, pcap.Truncated, 0, 0)

		_, err = readBytes(newNG(o).port(1, 0).section().simple("x", 1).out)
		requireFault(t, err, pcap.BadBlock, 76, 1)
		require.ErrorContains(t, err, "interface 0, but the section has declared 0", "a section forgets the interfaces of the one before")
	})
}

func TestForeignInterfaceIsPassedOverAndReported(t *testing.T) {
	f := newNG(binary.LittleEndian).port(1, 0).port(113, 0).
		enhanced(0, 1, "one", 3).
		enhanced(1, 2, "cooked", 6).
		enhanced(0, 3, "three", 5).
		enhanced(1, 4, "cooked", 6)
	got, err := readBytes(f.out)
	require.Equal(t, "1 @68 0.000001000 \"one\" of 3\n3 @144 0.000003000 \"three\" of 5\n", list(got), "foreign frames count")
	requireFault(t, err, pcap.ForeignLink, 104, 2)
	require.ErrorContains(t, err, "link type 113 (Linux cooked v1)")
	require.ErrorContains(t, err, "2 such frames passed over")

	_, err = readBytes(f.out[:len(f.out)-1])
	requireFault(t, err, pcap.ForeignLink, 104, 2)
	require.ErrorContains(t, err, "mem: frame 5 at offset 184: truncated: the block has 40 bytes, 39 are there", "the second fault is told too")
}

func TestForeignInterfaceWithoutFramesIsFine(t *testing.T) {
	got, err := readBytes(newNG(binary.BigEndian).port(113, 0).port(1, 0).enhanced(1, 1, "x", 1).out)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

// A block of any length is stepped over without being held.
func TestLongUnknownBlock(t *testing.T) {
	f := newNG(binary.LittleEndian).port(1, 0).block(0x80000001, nil, strings.Repeat("k", 5<<20)).enhanced(0, 1, "x", 1)
	got, err := readBytes(f.out)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestTooManyInterfaces(t *testing.T) {
	f := newNG(binary.LittleEndian)
	for range 1<<16 + 1 {
		f.port(1, 0)
	}
	_, err := readBytes(f.out)
	requireFault(t, err, pcap.BadBlock, 28+20<<16, 1)
}
