package pcap

import "fmt"

// linkEthernet is LINKTYPE_ETHERNET, the only link type accepted.
const linkEthernet = 1

// linkMask keeps the link type of a classic file header; the bits above it tell of a
// frame check sequence.
const linkMask = 0x03ffffff

// linkNames holds the link types people meet most (tcpdump.org/linktypes.html).
var linkNames = map[uint32]string{
	0:   "BSD loopback",
	6:   "Token Ring",
	9:   "PPP",
	10:  "FDDI",
	12:  "raw IP",
	50:  "PPP in HDLC framing",
	51:  "PPPoE session",
	101: "raw IP",
	104: "Cisco HDLC",
	105: "IEEE 802.11",
	108: "OpenBSD loopback",
	113: "Linux cooked v1",
	119: "IEEE 802.11 with Prism header",
	127: "IEEE 802.11 with radiotap header",
	143: "DOCSIS",
	147: "user 0",
	187: "Bluetooth HCI",
	189: "USB (Linux)",
	195: "IEEE 802.15.4",
	220: "USB (Linux, padded)",
	228: "raw IPv4",
	229: "raw IPv6",
	249: "USBPcap",
	276: "Linux cooked v2",
}

// linkFault names a foreign link type and says how to get the right one.
func linkFault(link uint32) string {
	name, known := linkNames[link]
	if !known {
		name = "unknown"
	}
	return fmt.Sprintf("link type %d (%s), but Ethernet (1) is needed; capture on one Ethernet interface, not on \"any\"", link, name)
}
