package pcap_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/pcap"
)

// benchFrames is the number of frames of 100 bytes in the files of the benchmarks.
const benchFrames = 100_000

// benchFile makes a file in each format.
func benchFile(pack func(testing.TB, []byte) []byte) func(testing.TB) []byte {
	return func(t testing.TB) []byte {
		data := string(make([]byte, 100))
		f := newClassic(binary.LittleEndian, nano, 1)
		for i := range uint32(benchFrames) {
			f.frame(i, i, data, 100)
		}
		return pack(t, f.out)
	}
}

func plain(_ testing.TB, b []byte) []byte { return b }

func benchNG(testing.TB) []byte {
	data := string(make([]byte, 100))
	f := newNG(binary.LittleEndian).port(1, 0)
	for i := range uint64(benchFrames) {
		f.enhanced(0, i, data, 100)
	}
	return f.out
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		file func(testing.TB) []byte
	}{
		{"classic", benchFile(plain)},
		{"pcapng", benchNG},
		{"gzip", benchFile(gzipped)},
		{"zstd", benchFile(zstded)},
	} {
		b.Run(c.name, func(b *testing.B) {
			file := c.file(b)
			for b.Loop() {
				r, err := pcap.NewReader(bytes.NewReader(file), "mem")
				require.NoError(b, err)
				n := 0
				for {
					if _, err := r.Next(); err != nil {
						break
					}
					n++
				}
				require.Equal(b, benchFrames, n)
				require.NoError(b, r.Close())
			}
			report(b)
		})
	}
}

// BenchmarkTwin is the reader in the tests, to compare with.
func BenchmarkTwin(b *testing.B) {
	file := benchFile(plain)(b)
	for b.Loop() {
		_, clean := slowRead(file)
		require.True(b, clean)
	}
	report(b)
}

func BenchmarkMerge(b *testing.B) {
	file := benchFile(plain)(b)
	for b.Loop() {
		readers := make([]*pcap.Reader, 8)
		for i := range readers {
			r, err := pcap.NewReader(bytes.NewReader(file[:24+len(file[24:])/8]), "mem")
			require.NoError(b, err)
			readers[i] = r
		}
		m, n := pcap.Merge(readers...), 0
		for {
			if _, _, err := m.Next(); err != nil {
				break
			}
			n++
		}
		require.Equal(b, benchFrames, n)
	}
	report(b)
}

func BenchmarkWrite(b *testing.B) {
	data := make([]byte, 100)
	for b.Loop() {
		w := pcap.NewWriter(io.Discard)
		for i := range int64(benchFrames) {
			if err := w.Write(pcap.Record{Time: i, Data: data}); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, w.Close())
	}
	report(b)
}

// report adds frames per second.
func report(b *testing.B) {
	b.ReportMetric(float64(b.N)*benchFrames/b.Elapsed().Seconds()/1e6, "Mframes/s")
}
