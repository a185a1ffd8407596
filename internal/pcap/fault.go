package pcap

import "fmt"

// Problem says what kind of fault a file has.
type Problem uint8

// Possible Problem values.
const (
	_           Problem = iota
	Truncated           // the file ends inside a header, a record or a block
	BadMagic            // the file is neither a classic capture nor pcapng
	BadHeader           // a file or section header of a version nobody defined
	ForeignLink         // the frames are not Ethernet
	BadLength           // a length no capture can have
	BadBlock            // a pcapng block contradicts itself or the blocks before it
	BadTime             // a time stamp or its resolution does not fit 64 bits of nanoseconds
	Corrupt             // the compressed stream does not decompress
)

var problems = [...]string{
	Truncated:   "truncated",
	BadMagic:    "not a capture",
	BadHeader:   "bad header",
	ForeignLink: "foreign link type",
	BadLength:   "bad length",
	BadBlock:    "bad block",
	BadTime:     "bad time",
	Corrupt:     "corrupt compression",
}

// String names the problem in two or three words.
func (p Problem) String() string {
	if int(p) < len(problems) && problems[p] != "" {
		return problems[p]
	}
	return fmt.Sprintf("problem %d", uint8(p))
}

// FormatError is a fault of a capture file. All frames before it have been returned.
type FormatError struct {
	Name    string  // the file, as given to Open or NewReader
	Offset  int64   // where the faulty part begins, in bytes of the uncompressed file
	Frame   int     // number of the frame that could not be read; 0 in the file's header
	Problem Problem // what kind of fault
	Detail  string  // the particulars, and what to do where something can be done
	Err     error   // the decompressor's own error; nil for other faults
}

// Error is one line: file, place, problem, detail.
func (e *FormatError) Error() string {
	where := "header"
	if e.Frame > 0 {
		where = fmt.Sprintf("frame %d", e.Frame)
	}
	return fmt.Sprintf("%s: %s at offset %d: %s: %s", e.Name, where, e.Offset, e.Problem, e.Detail)
}

// Unwrap gives the underlying error, if there is one.
func (e *FormatError) Unwrap() error { return e.Err }

// ReadError is a source that failed in the middle of a capture. All frames before it have been returned.
type ReadError struct {
	Name   string // as in FormatError, and likewise
	Offset int64
	Frame  int
	Err    error // the source's
}

// Error is one line: file, place, what the source said.
func (e *ReadError) Error() string {
	return fmt.Sprintf("read capture %s: frame %d at offset %d: %v", e.Name, e.Frame, e.Offset, e.Err)
}

// Unwrap gives the source's error.
func (e *ReadError) Unwrap() error { return e.Err }
