// Package packet knows the bytes of a frame: checksums, header layout, a builder
// for well-formed frames and a field-by-field comparison for people.
//
// Nothing here knows OpenFlow. The hot path of the simulator uses the checksums and
// offsets; the builder and the comparison decode with gopacket and are meant for
// tests, stories and reports.
package packet
