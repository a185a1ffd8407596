package maglev

import (
	"crypto/sha256"
	"strconv"
)

// AppendText appends the table as text, the form the digest is taken of:
//
//	version 2
//	pool 1
//	slots 1024
//	0 10.20.0.2:8080
//	1 10.30.0.3:8080
//	2 -
//
// that is the version of the layout, the pool id, the number of slots, and for each slot from 0
// its number and the key of its owner, or - when nobody owns it. Numbers are decimal, words are
// separated by one space, every line ends in a line feed. The error is always nil.
func (t Table) AppendText(b []byte) ([]byte, error) {
	line := func(word string, n int) {
		b = append(b, word...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, '\n')
	}
	line("version ", int(t.pool.Algorithm))
	line("pool ", int(t.pool.ID))
	line("slots ", len(t.owner))
	for slot, o := range t.owner {
		b = strconv.AppendInt(b, int64(slot), 10)
		b = append(b, ' ')
		if o == empty {
			b = append(b, '-')
		} else {
			b = append(b, t.pool.Members[o].Key...)
		}
		b = append(b, '\n')
	}
	return b, nil
}

// Digest is the SHA-256 of the table's text. Nodes that agree on it agree on every slot.
func (t Table) Digest() [sha256.Size]byte {
	text, _ := t.AppendText(nil)
	return sha256.Sum256(text)
}
