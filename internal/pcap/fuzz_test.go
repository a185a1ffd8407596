package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// seeds are small files of every kind.
func seeds(t testing.TB) [][]byte {
	le, be := newNG(binary.LittleEndian), newNG(binary.BigEndian)
	le.port(1, 0, le.option(9, "\x09"), le.option(14, le.u64(5))).enhanced(0, 1, "one", 60).port(113, 0).enhanced(1, 1, "foreign", 7)
	be.port(1, 4, be.option(9, "\xa0")).obsolete(0, 1<<35, "two", 3).simple("three", 5).block(77, nil, "abc").section()
	classic := newClassic(binary.LittleEndian, nano, 1).frame(1, 2, "one", 60).frame(3, 4, "two", 3).out
	return [][]byte{
		nil,
		classic,
		classic[:len(classic)-1],
		newClassic(binary.BigEndian, micro, 1).frame(1, 2, "one", 60).out,
		newClassic(binary.LittleEndian, modified, 1).frame(1, 2, "one", 60).out,
		newClassic(binary.BigEndian, micro, 113).frame(1, 2, "one", 60).out,
		le.out,
		append(le.out, be.out...),
		gzipped(t, classic),
		zstded(t, classic),
	}
}

// FuzzReader holds the reader against its slow twin, and against itself through a Writer.
func FuzzReader(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := readBytes(file)
		if err != nil {
			var fault *pcap.FormatError
			require.ErrorAs(t, err, &fault)
			require.NotEmpty(t, fault.Error())
		}
		if !packed(file) {
			want, clean := slowRead(file)
			require.Equal(t, want, got)
			require.Equal(t, clean, err == nil, "%v", err)
		}
		tight, again := readThrough(file, 32)
		require.Equal(t, got, tight)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(again))
		ahead, third := readAhead(file, 32)
		require.Equal(t, got, ahead)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(third))
		rewrite(t, got)
	})
}

// packed reports whether a file is compressed, which the slow twin does not read.
func packed(file []byte) bool {
	return bytes.HasPrefix(file, []byte("\x1f\x8b")) || bytes.HasPrefix(file, []byte("\x28\xb5\x2f\xfd"))
}

// rewrite writes frames and reads them back; only places may differ.
func rewrite(t *testing.T, frames []frame) {
	var out bytes.Buffer
	w := pcap.NewWriter(&out)
	var want []frame
	for _, f := range frames {
		if w.Write(pcap.Record{Time: f.Time, Data: []byte(f.Data), OrigLen: f.OrigLen}) == nil {
			f.Index, f.Offset = len(want)+1, 0
			want = append(want, f)
		}
	}
	require.NoError(t, w.Close())
	got, err := readBytes(out.Bytes())
	require.NoError(t, err)
	for i := range got {
		got[i].Offset = 0
	}
	require.Equal(t, want, got)
}

// Every cut of every seed, through buffers of many sizes: what the twin reads is what the reader reads, and the fault
// lies inside the file.
func TestEveryCut(t *testing.T) {
	for _, whole := range seeds(t) {
		for n := range whole {
			file := whole[:n]
			if packed(file) {
				continue
			}
			got, err := readThrough(file, 1+n%40)
			want, clean := slowRead(file)
			require.Equal(t, want, got)
			require.Equal(t, clean, err == nil, "%v", err)
			var fault *pcap.FormatError
			if errors.As(err, &fault) {
				require.LessOrEqual(t, fault.Offset, int64(n))
			}
		}
	}
}
