package simbackend_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
)

// hash is that of a multipath action over symmetric_l4, nw_src or nw_dst.
func (h header) hash(of openflow.HashFields, basis uint16) uint32 {
	src, dst := h.octets(openflow.IPSrc, 4), h.octets(openflow.IPDst, 4)
	switch h.get(openflow.EthType).Lo {
	case openflow.EthTypeIPv6:
		src, dst = h.octets(openflow.IPv6Src, 16), h.octets(openflow.IPv6Dst, 16)
	case openflow.EthTypeIPv4:
	default:
		src, dst = nil, nil
	}
	switch {
	case of == openflow.HashSymmetricL4:
		return jhash(h.symmetric(src, dst), uint32(basis))
	case src == nil:
		return uint32(basis)
	case of == openflow.HashNwSrc:
		return jhash(src, uint32(basis))
	case of == openflow.HashNwDst:
		return jhash(dst, uint32(basis))
	}
	panic(fmt.Sprintf("reference: hash of %v", of))
}

func (h header) octets(f openflow.Field, n int) (b []byte) {
	for i := range n {
		b = append(b, byte(h.get(f).Shr(8*(n-1-i)).Lo))
	}
	return b
}

// symmetric is what symmetric_l4 hashes: of each pair the exclusive or, so that both directions are alike. UDP ports are not in it.
func (h header) symmetric(src, dst []byte) []byte {
	b := make([]byte, 32)
	xor := func(at int, fields ...[]byte) {
		for _, f := range fields {
			for i := range f {
				b[at+i] ^= f[i]
			}
		}
	}
	xor(0, src, dst)
	xor(16, h.octets(openflow.EthType, 2))
	for _, t := range h.vlans { // even if they say that there is none
		xor(18, binary.BigEndian.AppendUint16(nil, uint16(t&0xfff)))
	}
	xor(22, h.octets(openflow.EthSrc, 6), h.octets(openflow.EthDst, 6))
	if src == nil {
		return b
	}
	if b[28] = byte(h.get(openflow.IPProto).Lo); b[28] == openflow.ProtoTCP {
		xor(20, h.octets(openflow.TCPSrc, 2), h.octets(openflow.TCPDst, 2))
	}
	return b
}

// jhash is Jenkins' lookup3 as OVS has it, over little-endian words.
func jhash(b []byte, basis uint32) uint32 {
	x := 0xdeadbeef + uint32(len(b)) + basis
	v := [3]uint32{x, x, x}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	for ; len(b) >= 12; b = b[12:] {
		for i := range v {
			v[i] += word(i)
		}
		for i, turn := range [6]int{4, 6, 8, 16, 19, 4} {
			a, b, c := &v[i%3], &v[(i+1)%3], &v[(i+2)%3]
			*a -= *c
			*a ^= bits.RotateLeft32(*c, turn)
			*c += *b
		}
	}
	if len(b) == 0 {
		return v[2]
	}
	b = append(b[:len(b):len(b)], make([]byte, 12-len(b))...)
	for i := range v {
		v[i] += word(i)
	}
	for i, turn := range [7]int{14, 11, 25, 16, 4, 14, 24} { // c, a, b, c, a, b, c
		to, from := &v[(i+2)%3], &v[(i+1)%3]
		*to ^= *from
		*to -= bits.RotateLeft32(*from, turn)
	}
	return v[2]
}

// TestReferenceHashesAsRealSwitch compares with the real switch's answers.
func TestReferenceHashesAsRealSwitch(t *testing.T) {
	text, err := os.ReadFile("flow/testdata/multipath.txt")
	require.NoError(t, err)
	known := map[string]openflow.HashFields{"symmetric_l4": openflow.HashSymmetricL4, "nw_src": openflow.HashNwSrc, "nw_dst": openflow.HashNwDst}
	var h header
	n := 0
	for line := range strings.Lines(string(text)) {
		var fields, algorithm string
		var basis uint16
		var links, arg, want uint32
		if strings.HasPrefix(line, "flow ") {
			h = recorded(t, strings.Fields(line)[1:])
		} else if _, err := fmt.Sscanf(line, "link %s %d %s %d %d = %d", &fields, &basis, &algorithm, &links, &arg, &want); err == nil {
			of, ok := known[fields]
			sctp := h.get(openflow.IPProto).Lo == openflow.ProtoSCTP
			if ok && algorithm == "modulo_n" && !sctp {
				require.Equal(t, want, h.hash(of, basis)%links, line)
				n++
			}
		}
	}
	require.Greater(t, n, 100)
}

// recorded is the header of a line of multipath.txt.
func recorded(t *testing.T, words []string) header {
	h := header{fields: map[openflow.Field]openflow.Value{}}
	for i, f := range []openflow.Field{
		openflow.EthSrc, openflow.EthDst, openflow.VLANTCI, openflow.EthType, openflow.IPProto, openflow.IPSrc, openflow.IPDst, openflow.TCPSrc, openflow.TCPDst,
	} {
		if f == openflow.IPSrc && len(words[i]) == 32 {
			f = openflow.IPv6Src
		} else if f == openflow.IPDst && len(words[i]) == 32 {
			f = openflow.IPv6Dst
		}
		if len(words[i])%2 == 1 {
			words[i] = "0" + words[i]
		}
		b, err := hex.DecodeString(words[i])
		require.NoError(t, err)
		h.assign(f, octets(b).get(), f.Mask())
	}
	return h
}
