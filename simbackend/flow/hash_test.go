package flow

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	of "hpnn/datapath/openflow"
)

var hashFields = map[string]of.HashFields{
	"eth_src": of.HashEthSrc, "symmetric_l4": of.HashSymmetricL4, "symmetric_l3l4": of.HashSymmetricL3L4,
	"symmetric_l3l4+udp": of.HashSymmetricL3L4UDP, "nw_src": of.HashNwSrc, "nw_dst": of.HashNwDst,
	"symmetric_l3": of.HashSymmetricL3,
}

var algorithms = map[string]of.HashAlgorithm{
	"modulo_n": of.ModuloN, "hash_threshold": of.HashThreshold, "hrw": of.HRW, "iter_hash": of.IterHash,
}

func number(t *testing.T, s string, base int) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), base, 64)
	require.NoError(t, err)
	return n
}

// keyOf reads a "flow" line of testdata/multipath.txt.
func keyOf(t *testing.T, words []string) (k Key) {
	hexa := func(i int) of.Value { return of.U64(number(t, words[i], 16)) }
	k.Set(of.EthSrc, hexa(0))
	k.Set(of.EthDst, hexa(1))
	k.Set(of.VLANTCI, hexa(2))
	k.Set(of.EthType, hexa(3))
	k.Set(of.IPProto, hexa(4))
	k.Set(of.TCPSrc, hexa(7))
	k.Set(of.TCPDst, hexa(8))
	k.Set(of.IPFrag, hexa(9))
	for i, f := range [2][2]of.Field{{of.IPSrc, of.IPv6Src}, {of.IPDst, of.IPv6Dst}} {
		b, err := hex.DecodeString(words[5+i])
		require.NoError(t, err)
		var v of.Value
		for _, octet := range b {
			v = v.Shl(8).Or(of.U64(uint64(octet)))
		}
		if len(b) == 4 {
			k.Set(f[0], v)
		} else {
			k.Set(f[1], v)
		}
	}
	return k
}

// TestMultipathAsRealSwitch compares with 1,017 answers of the real switch.
func TestMultipathAsRealSwitch(t *testing.T) {
	file, err := os.Open("testdata/multipath.txt")
	require.NoError(t, err)
	defer file.Close()
	var k Key
	answers := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		w := strings.Fields(lines.Text())
		switch w[0] {
		case "#":
		case "flow":
			k = keyOf(t, w[1:])
		case "hash":
			require.Equal(t, uint32(number(t, w[4], 16)), Hash(&k, hashFields[w[1]], uint16(number(t, w[2], 10))), lines.Text())
			answers++
		case "link":
			m := of.Multipath{
				Fields: hashFields[w[1]], Basis: uint16(number(t, w[2], 10)), Algorithm: algorithms[w[3]],
				Links: uint32(number(t, w[4], 10)), Arg: uint32(number(t, w[5], 10)),
			}
			require.Equal(t, uint32(number(t, w[7], 10)), Multipath(&k, &m), lines.Text())
			answers++
		default:
			require.Fail(t, "unknown line", lines.Text())
		}
	}
	require.Equal(t, 1017, answers)
}

func tcpKey() (k Key) {
	k.Set(of.EthSrc, of.U64(0x0a0000000001))
	k.Set(of.EthDst, of.U64(0x0a0000000002))
	k.Set(of.EthType, of.U64(of.EthTypeIPv4))
	k.Set(of.IPProto, of.U64(of.ProtoTCP))
	k.Set(of.IPSrc, of.U64(0x0a000001))
	k.Set(of.IPDst, of.U64(0x0a000002))
	k.Set(of.TCPSrc, of.U64(1000))
	k.Set(of.TCPDst, of.U64(80))
	return k
}

func TestHashOfOneFlow(t *testing.T) {
	k := tcpKey()
	for fields, want := range map[of.HashFields]uint32{
		of.HashSymmetricL4: 0xd55a927d, of.HashSymmetricL3: 0x8ff1d19b, of.HashSymmetricL3L4: 0x41f5f3fc,
		of.HashEthSrc: 0xd1becd3e, of.HashNwSrc: 0x2fa5f781,
	} {
		require.Equal(t, want, Hash(&k, fields, 0), "fields %d", fields)
	}
	require.Equal(t, uint32(0xb4b2), Hash(&k, of.HashSymmetricL4, 3)&0xffff)
}

func TestSymmetricHashesAreSymmetric(t *testing.T) {
	m := newMaker(seed())
	for range 2000 {
		var k Key
		_, ok := Extract(m.frame(), 1, &k)
		require.True(t, ok)
		r := k
		swap(&r, of.EthSrc, of.EthDst)
		swap(&r, of.IPSrc, of.IPDst)
		swap(&r, of.IPv6Src, of.IPv6Dst)
		swap(&r, of.TCPSrc, of.TCPDst)
		for _, f := range []of.HashFields{of.HashSymmetricL3, of.HashSymmetricL4, of.HashSymmetricL3L4, of.HashSymmetricL3L4UDP} {
			require.Equal(t, Hash(&k, f, 7), Hash(&r, f, 7), Format(&k))
		}
	}
}

func swap(k *Key, f, g of.Field) {
	a, b := k.Get(f), k.Get(g)
	k.Set(f, b)
	k.Set(g, a)
}

func TestLinkIsBelowLinks(t *testing.T) {
	m := newMaker(seed())
	for range 20000 {
		n := pick(m, 1, 2, 3, 63, 64, 65, 1024, 65536, 1+m.Uint32N(65536))
		arg := pick(m, 0, n, 2*n, 2*n+2, m.Uint32())
		for name, a := range algorithms {
			require.Less(t, Link(m.Uint32(), a, n, arg), n, "%s of %d, %d", name, n, arg)
		}
	}
}

func ExampleMultipath() {
	var k Key
	Extract([]byte("\x0a\x00\x00\x00\x00\x02\x0a\x00\x00\x00\x00\x01\x08\x00"+
		"\x45\x00\x00\x28\x00\x01\x00\x00\x40\x06\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02"+
		"\x03\xe8\x00\x50\x00\x00\x00\x00\x00\x00\x00\x00\x50\x02\x00\x00\x00\x00\x00\x00"), 1, &k)
	slot := Multipath(&k, &of.Multipath{Fields: of.HashSymmetricL4, Algorithm: of.ModuloN, Links: 1024})
	fmt.Println(slot)
	// Output: 637
}
