package simbackend

// ConnectionLines lists the tracked connections as dpctl/dump-conntrack -s does.
func (s *Switch) ConnectionLines() (lines []string) {
	for c := range s.ct.Conns(s.now) {
		lines = append(lines, c.Stats())
	}
	return lines
}
