package simbackend

// Peak is the most flows that were in the tables at a time, and the most connections tracked.
func (s *Switch) Peak() (flows, connections int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak, s.ct.Peak()
}
