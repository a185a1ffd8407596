package simbackend

// ConnectionLines lists the tracked connections as dpctl/dump-conntrack -s does.
func (s *Switch) ConnectionLines() (lines []string) {
	for c := range s.ct.Conns(s.now) {
		lines = append(lines, c.Stats())
	}
	return lines
}

// NewForgetful is New of a switch whose cache remembers nothing.
func NewForgetful(c Config) (*Switch, error) {
	s, err := New(c)
	if err == nil {
		s.cache.seen = nil
	}
	return s, err
}

// Remembered counts the passes that the cache has spared.
func (s *Switch) Remembered() uint64 { return s.cache.hits }
