package packet

// Spans gives the layers of a frame as pairs of offsets.
func Spans(frame []byte) (spans [][2]int) {
	for _, l := range dissect(frame) {
		spans = append(spans, [2]int{l.at, l.end})
	}
	return spans
}
