package maglev

import (
	"fmt"
	"testing"
)

// A pool from fuzz input: a byte of weight and one of state per member.
func FuzzBuild(f *testing.F) {
	f.Add(uint16(1), 1024, uint8(2), []byte{1, 1, 1, 1, 1, 0, 1, 1})
	f.Add(uint16(9), 7, uint8(1), []byte{100, 1, 0, 1})
	f.Add(uint16(0), 0, uint8(0), []byte{101, 2})
	f.Add(uint16(3), 65536, uint8(2), []byte{})
	f.Fuzz(func(t *testing.T, id uint16, slots int, a uint8, members []byte) {
		p := Pool{ID: id, Slots: slots, Algorithm: Algorithm(a)}
		for i := 0; i+1 < min(len(members), 256); i += 2 {
			p.Members = append(p.Members, Member{Key: fmt.Sprintf("m%d:80", i), Weight: int(members[i]), Live: members[i+1]&1 == 1})
		}
		table, err := Build(p)
		if (err == nil) != (p.Validate() == nil) {
			t.Fatalf("build says %v, validate %v", err, p.Validate())
		}
		if err != nil {
			return
		}
		requireSound(t, table)
		requireFair(t, table, 2)
	})
}
