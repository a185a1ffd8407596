package packet_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/packet"
)

func TestVerifyAcceptsEveryExample(t *testing.T) {
	for name, frame := range examples() {
		require.NoError(t, packet.Verify(frame), name)
	}
}

func TestVerifyNamesTheFault(t *testing.T) {
	all := examples()
	for _, c := range []struct {
		name, frame string
		at          int
		bytes       string
		want        string
	}{
		{"ttl", "tcp", 22, "\x3f", "ip checksum 0xef4b, want 0xf04b"},
		{"tcp port", "tcp", 37, "\x51", "tcp checksum 0xadc2, want 0xadc1"},
		{"ip address is in both", "tcp", 33, "\x16", "ip checksum 0xef4b, want 0xef4a\ntcp checksum 0xadc2, want 0xadc1"},
		{"udp payload", "udp", 42, "Q", "udp checksum 0xa47c, want 0xc47c"},
		{"icmp code", "echo", 35, "\x01", "icmp checksum 0x1927, want 0x1926"},
		{"icmp6 code", "echo6", 55, "\x01", "icmp6 checksum"},
		{"udp6 none", "udp6", 60, "\x00\x00", "udp checksum 0 is not allowed in IPv6"},
		{"behind extension headers", "extended", 54 + 32 + 1, "\x00", "udp checksum"},
		{"quoted bytes count for the outer checksum", "unreachable", 42, "\x46", "icmp checksum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorContains(t, packet.Verify(edit(all[c.frame], c.at, c.bytes)), c.want)
		})
	}
}

func TestVerifyPassesWhatCannotBeChecked(t *testing.T) {
	all := examples()
	for name, frame := range map[string][]byte{
		"fragment payload":        edit(all["first"], 34, "\xff"),
		"cut payload":             edit(all["tcp"][:60], 38, "\xff"),
		"udp length beyond":       edit(all["udp"], 39, "\xff"),
		"udp length below":        edit(all["udp"], 39, "\x07"),
		"tcp header that is none": edit(all["tcp"], 46, "\xf0"),
		"other protocol":          edit(all["gre"], 34, "\xff"),
		"routed on the way":       edit(all["extended"], 54+8+3, "\x01", 54+32, "\xff"),
		"fragment6":               edit(all["extended"], 54+24+3, "\x01", 54+32, "\xff"),
		"padding":                 edit(all["padded"], 55, "\xff"),
		"no IP":                   edit(all["lldp"], 14, "\xff"),
		"empty":                   nil,
	} {
		require.NoError(t, packet.Verify(frame), name)
	}
}

// Whatever single bit changes under a checksum, Verify says so. Bits that change where the
// headers lie are left out, for they change what there is to check.
func TestVerifySeesEveryBit(t *testing.T) {
	for _, c := range []struct {
		frame    string
		from, to int // covered bytes
		except   []int
	}{
		{"tcp", 14, 14 + 20 + 20 + 18, []int{46}},
		{"udp", 14, 14 + 20 + 8 + 8, []int{38, 39}},
		{"echo", 14, 14 + 20 + 12, nil},
		{"ip options", 14, 14 + 28 + 20, []int{54}},
		{"tcp6", 22, 14 + 40 + 20, []int{66}},
		{"udp6", 22, 14 + 40 + 16, []int{58, 59}},
		{"echo6", 22, 14 + 40 + 12, nil},
	} {
		frame := examples()[c.frame]
		for i := c.from * 8; i < c.to*8; i++ {
			skip := i/8 == 14 || i/8 == 17 // version, header length, total length
			for _, at := range c.except {
				skip = skip || at == i/8
			}
			other := bytes.Clone(frame)
			other[i/8] ^= 0x80 >> (i % 8)
			if !skip {
				require.Error(t, packet.Verify(other), "%s byte %d bit %d", c.frame, i/8, i%8)
			}
		}
	}
}
