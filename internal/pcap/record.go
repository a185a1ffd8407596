package pcap

import (
	"math"
	"time"
)

// MaxFrame is the most bytes a captured frame may have: 256 KiB, the limit libpcap
// applies to Ethernet. A longer length in a file is a fault, not a frame.
const MaxFrame = 256 << 10

// Record is one captured frame.
type Record struct {
	// Time is when the frame was captured: nanoseconds since the Unix epoch, UTC.
	Time int64
	// Data is the frame from its first Ethernet byte. A Reader lends it: it is valid
	// until the next call to Next. A frame check sequence, where one was captured, is
	// part of it.
	Data []byte
	// OrigLen is the length in bytes the frame had on the wire, at least len(Data).
	// A Writer takes 0 as len(Data).
	OrigLen int
	// Index numbers the frames of a file from 1, as capture viewers do.
	Index int
	// Offset is where the record begins in the uncompressed file, in bytes.
	Offset int64
}

// Snapped reports whether the capture kept only the beginning of the frame.
func (r Record) Snapped() bool { return len(r.Data) < r.OrigLen }

// At is Time as a time.Time in UTC.
func (r Record) At() time.Time { return time.Unix(0, r.Time).UTC() }

// wireLength is the original length of a frame, which some writers give as less than what
// they captured.
func wireLength(orig, captured uint32) int {
	return int(min(max(orig, captured), math.MaxInt32))
}
