package conformance

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	o, err := StartOracle(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	start := time.Now()
	kinds := map[string]int{}
	caps, _ := ReadCaptures("/work/shared/pcaps/public")
	shrunk := 0
	for i := 0; i < n; i += 100 {
		c := Campaign{Seed: uint64(seed), Cases: uint64(n), Captures: caps}
		fs, err := c.compare(context.Background(), o, uint64(seed+i), uint64(min(100, n)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fs {
			kinds[kind(f.Difference)]++
			if os.Getenv("SHRINK") != "" && shrunk < 12 {
				shrunk++
				f, err = Shrink(context.Background(), o.Differ, f)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Println("SEED", f.Seed, f.Difference)
				fmt.Println(f.File)
			} else {
				fmt.Println("SEED", f.Seed, f.Difference[:min(len(f.Difference), 300)])
			}
			os.WriteFile(fmt.Sprintf("/tmp/hpconf/%d.case", f.Seed), []byte(f.File.String()), 0644)
		}
	}
	fmt.Println(n, "cases", time.Since(start), kinds)
}
