package replay

import (
	"errors"
	"fmt"
	"strings"

	"hpnn/internal/pcap"
)

// Fault is what is wrong with a capture. The frames before it were replayed.
type Fault struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`          // of the faulty part, in bytes of the uncompressed file
	Frame  int    `json:"frame,omitempty"` // that could not be read; 0 in the file's header
	Text   string `json:"text"`            // all of it in one line
}

// Faults is the error of a replay whose captures could be read only in part.
type Faults []Fault

// Error is one line a fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Text
	}
	return strings.Join(lines, "\n")
}

// orNil keeps an empty list from becoming an error that is not nil.
func (fs Faults) orNil() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

// faultsOf lists the faults that errors joined into err tell of. An error that is none of a
// capture's format has no place.
func faultsOf(err error) (fs Faults) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			fs = append(fs, faultsOf(e)...)
		}
		return fs
	}
	f := Fault{Text: fmt.Sprint(err)}
	var format *pcap.FormatError
	var read *pcap.ReadError
	switch {
	case errors.As(err, &format):
		f.File, f.Offset, f.Frame = format.Name, format.Offset, format.Frame
	case errors.As(err, &read):
		f.File, f.Offset, f.Frame = read.Name, read.Offset, read.Frame
	}
	return Faults{f}
}
