package simswitch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bufferSize is how much of what comes in a socket keeps while its reader waits for the processor.
const bufferSize = 4 << 20

// packetSocket is a socket for all frames of a device, whoever they are for.
type packetSocket struct {
	fd     int
	oob    []byte
	frame  []byte // with room for a tag at its beginning
	warned bool
	warn   func(problem string)
}

// openPacket opens a socket on a device in the caller's namespace.
func openPacket(name string, warn func(string)) (*packetSocket, error) {
	card, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0) // it hears nothing yet
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	s := &packetSocket{fd: fd, oob: make([]byte, unix.CmsgSpace(auxdataSize)), frame: make([]byte, vlanTag+maxFrame), warn: warn}
	if err := s.listen(card.Index); err != nil {
		return nil, errors.Join(fmt.Errorf("listen at %s: %w", name, err), unix.Close(fd))
	}
	return s, nil
}

func (s *packetSocket) listen(device int) error {
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferSize) // without it, more is lost under load
	all := &unix.PacketMreq{Ifindex: int32(device), Type: unix.PACKET_MR_PROMISC}
	return errors.Join(
		unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1), // what others send by the device does not come in
		unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		unix.SetsockoptPacketMreq(s.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, all),
		unix.Bind(s.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: device}),
	)
}

func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

const (
	maxFrame    = 1 << 16
	addresses   = 12 // bytes before the tag
	vlanTag     = 4
	auxdataSize = int(unsafe.Sizeof(unix.TpacketAuxdata{}))
)

// read implements device.
func (s *packetSocket) read() ([]byte, error) {
	n, oobn, _, _, err := unix.RecvmsgBuffers(s.fd, [][]byte{s.frame[vlanTag:]}, s.oob, 0)
	if err != nil {
		return nil, err
	}
	frame := s.frame[vlanTag : vlanTag+n]
	if aux, ok := auxdata(s.oob[:oobn]); ok {
		if aux.Status&unix.TP_STATUS_CSUMNOTREADY != 0 && !s.warned {
			s.warned = true
			s.warn("frames come in without checksums: turn the sender's offloads off (ethtool -K DEVICE tx off)")
		}
		if aux.Status&unix.TP_STATUS_VLAN_VALID != 0 && n >= addresses {
			frame = s.frame[:vlanTag+n]
			putTag(frame, aux)
		}
	}
	return frame, nil
}

// putTag puts a tag in its place that the kernel has taken out of a frame. The frame begins with room for it.
func putTag(frame []byte, aux unix.TpacketAuxdata) {
	copy(frame, frame[vlanTag:vlanTag+addresses])
	tpid := uint16(unix.ETH_P_8021Q)
	if aux.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		tpid = aux.Vlan_tpid
	}
	binary.BigEndian.PutUint16(frame[addresses:], tpid)
	binary.BigEndian.PutUint16(frame[addresses+2:], aux.Vlan_tci)
}

// auxdata finds what the kernel says of a frame besides its bytes.
func auxdata(oob []byte) (aux unix.TpacketAuxdata, ok bool) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return aux, false
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_PACKET && m.Header.Type == unix.PACKET_AUXDATA && len(m.Data) >= auxdataSize {
			return *(*unix.TpacketAuxdata)(unsafe.Pointer(&m.Data[0])), true
		}
	}
	return aux, false
}

// descriptor implements device.
func (s *packetSocket) descriptor() int { return s.fd }
