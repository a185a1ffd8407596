package docker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/sys/unix"
)

// capture keeps the openings of TCP connections, SYN and SYN+ACK, that pass a container's card in both directions.
type capture struct {
	socket *os.File
	done   chan struct{}
	mu     sync.Mutex
	all    []opening
}

// opening is the head of a TCP segment with SYN.
type opening struct {
	src, dst string
	port     string // of the destination
	ttl      uint8
	answer   bool // it has ACK too
}

func (s *space) capture() (*capture, error) {
	link, err := s.handle.LinkByName(card)
	if err != nil {
		return nil, fmt.Errorf("capture at %s: %w", s.name, err)
	}
	c := &capture{done: make(chan struct{})}
	err = s.do(func() (err error) {
		c.socket, err = listen(link.Attrs().Index)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("capture at %s: %w", s.name, err)
	}
	go c.run()
	return c, nil
}

func listen(index int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "capture"), nil
}

func (c *capture) run() {
	defer close(c.done)
	buffer := make([]byte, 65536)
	for {
		n, err := c.socket.Read(buffer)
		if err != nil {
			return
		}
		if o, ok := readOpening(buffer[:n]); ok {
			c.mu.Lock()
			c.all = append(c.all, o)
			c.mu.Unlock()
		}
	}
}

func readOpening(frame []byte) (opening, bool) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.NoCopy)
	ip, _ := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	tcp, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
	if ip == nil || tcp == nil || !tcp.SYN {
		return opening{}, false
	}
	return opening{src: ip.SrcIP.String(), dst: ip.DstIP.String(), port: fmt.Sprint(uint16(tcp.DstPort)), ttl: ip.TTL, answer: tcp.ACK}, true
}

// end returns what was seen.
func (c *capture) end() []opening {
	_ = c.socket.Close()
	<-c.done
	return c.all
}
