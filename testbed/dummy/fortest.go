package dummy

import "context"

// TB is the part of testing.TB that ForTest needs.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// ForTest returns a running switch that ends with the test. Where OVS is missing the test is skipped with the reason.
func ForTest(tb TB, config Config) *Switch {
	tb.Helper()
	if reason, ok := Available(); !ok {
		tb.Skipf("no real switch to compare with: %s", reason)
	}
	s, err := Start(context.Background(), config)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("%v", err)
		}
	})
	return s
}
