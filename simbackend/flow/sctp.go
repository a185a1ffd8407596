package flow

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crcOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// setPortsSCTP writes ports. The checksum (RFC 9260, appendix A) covers the packet with the field
// zeroed; a wrong one stays wrong by the same bits.
func setPortsSCTP(l4 []byte, c *change) {
	if len(l4) < sctpLen {
		return
	}
	old := binary.LittleEndian.Uint32(l4[8:])
	binary.LittleEndian.PutUint32(l4[8:], 0)
	right := crcOf(l4)
	setPorts(l4, c, nil)
	binary.LittleEndian.PutUint32(l4[8:], old^right^crcOf(l4))
}
