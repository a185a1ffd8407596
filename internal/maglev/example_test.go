package maglev_test

import (
	"fmt"

	"hpnn/internal/maglev"
)

// One of four members fails. With the default layout only its own slots move.
func Example() {
	pool := maglev.Pool{ID: 1, Slots: 1024, Algorithm: maglev.Default, Members: []maglev.Member{
		{Key: "10.20.0.2:8080", Weight: 1, Live: true},
		{Key: "10.20.0.3:8080", Weight: 1, Live: true},
		{Key: "10.30.0.2:8080", Weight: 1, Live: true},
		{Key: "10.30.0.3:8080", Weight: 1, Live: true},
	}}
	before, err := maglev.Build(pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	pool.Members[0].Live = false
	after, err := maglev.Build(pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(before)
	fmt.Println(after)
	fmt.Println(maglev.Disruption(before, after))
	// Output:
	// 10.20.0.2:8080(256) 10.20.0.3:8080(256) 10.30.0.2:8080(256) 10.30.0.3:8080(256)
	// 10.20.0.2:8080(0) 10.20.0.3:8080(341) 10.30.0.2:8080(341) 10.30.0.3:8080(342)
	// moved 256 of 1024: necessary 256, foreign 0
}
