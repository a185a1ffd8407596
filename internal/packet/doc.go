// Package packet knows the bytes of a frame: checksums, header layout, a builder
// for well-formed frames and a field-by-field comparison for people.
//
// Nothing here knows OpenFlow, and nothing decodes with a library: one hand-written dissector
// serves the comparison, the summary and the verification, and takes any bytes. The hot path of
// the simulator uses the checksums only.
package packet
