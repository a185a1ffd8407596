//go:build unix

package conformance

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
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
	for i := 0; i < n; i += 250 {
		c := Campaign{Seed: uint64(seed), Cases: uint64(n), Captures: caps}
		fs, err := c.compare(context.Background(), o, uint64(seed+i), uint64(min(250, n)))
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
	o.Close()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		syscall.Getrusage(who, &u)
		fmt.Printf("who %d: user %.2f ms sys %.2f ms a case\n", who, float64(u.Utime.Nano())/1e6/float64(n), float64(u.Stime.Nano())/1e6/float64(n))
	}
	fmt.Println(n, "cases", time.Since(start), kinds)
}
