package health_test

import (
	"fmt"
	"net/netip"
	"time"

	"hpnn/internal/health"
	"hpnn/model"
)

// A member that is up, fails three times and comes back.
func ExampleTracker() {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	tracker := health.NewTracker(health.Rule{Rise: 2, Fall: 3, Initial: model.InitialDown}, health.SeenUp, now)
	failure := health.Result{Outcome: health.TimedOut, Detail: "timeout after 1s"}
	success := health.Result{Outcome: health.Passed, Latency: time.Millisecond}
	for _, result := range []health.Result{failure, success, failure, failure, failure, success, success} {
		now = now.Add(2 * time.Second)
		fmt.Println(tracker.Observe(result, now))
	}
	fmt.Println(tracker.Status())
	// Output:
	// no change
	// no change
	// no change
	// no change
	// up -> down after 3 failures in a row: timeout after 1s
	// no change
	// down -> up after 2 successes in a row
	// up (probed), 2 successes in a row, 4 of 7 probes failed, last error: timeout after 1s
}

// A simulation drives a roster by its own clock: here every probe takes 1 ms, and the member dies after 5 s.
func ExampleRoster() {
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var roster health.Roster
	_, err := roster.Update([]health.Check{{
		ID:      health.ID{Pool: "web", Key: "10.20.0.2:8080"},
		Name:    "be1",
		Monitor: model.HealthMonitor{Type: model.MonitorTCP, Interval: 2 * time.Second, Timeout: time.Second, Rise: 2, Fall: 3},
		Target:  health.Target{Address: netip.MustParseAddrPort("10.20.0.2:8080")},
	}}, begin)
	if err != nil {
		fmt.Println(err)
	}
	for range 7 {
		now, _ := roster.Wake()
		launch, _ := roster.Take(now)
		result := health.Result{Outcome: health.Passed}
		if now.Sub(begin) > 5*time.Second {
			result = health.Result{Outcome: health.Refused, Detail: "connection refused"}
		}
		event, _ := roster.Land(launch, result, now.Add(time.Millisecond))
		fmt.Printf("%7s %s %s\n", event.At.Sub(begin), event.Name, event.Transition)
	}
	// Output:
	//     1ms be1 down -> up after 1 success
	//  2.001s be1 no change
	//  4.001s be1 no change
	//  6.001s be1 no change
	//  8.001s be1 no change
	// 10.001s be1 up -> down after 3 failures in a row: connection refused
	// 12.001s be1 no change
}
