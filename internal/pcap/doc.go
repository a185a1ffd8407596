// Package pcap reads, merges and writes captures of Ethernet frames.
//
//	Open ──> decompression ──> window ──> format (classic | pcapng) ──> Record
//	         by magic           one       by magic                      borrows the
//	                            buffer                                  window's bytes
//
// A Reader streams: it holds one buffer whatever the size of the file, and a Record's
// bytes lie in that buffer until the next call. Understood are the classic format (both
// byte orders, micro- and nanoseconds, the "modified" format of old Linux kernels) and
// pcapng (draft-ietf-opsawg-pcapng: several sections and interfaces, enhanced, simple
// and obsolete packet blocks; every other block is stepped over), each plain or
// compressed with gzip or zstd.
//
// A file that breaks off or lies about itself yields every frame before the fault and
// then one *FormatError naming the place. Only Ethernet is accepted, since a frame of
// another link type would have to be guessed into one.
package pcap
