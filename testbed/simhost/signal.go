package simhost

// signal wakes goroutines that wait for something of the world to change. It costs nothing
// while nobody waits.
type signal struct{ changed chan struct{} }

// wait gives a channel that is closed at the next broadcast.
func (s *signal) wait() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// broadcast wakes all who wait.
func (s *signal) broadcast() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
