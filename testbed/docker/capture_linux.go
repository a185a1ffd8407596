package docker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/sys/unix"
)

// capture keeps the openings of TCP connections, SYN and SYN+ACK, that pass a container's card in both directions.
type capture struct {
	socket *os.File
	done   chan struct{}
	buffer []byte
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
	c := &capture{done: make(chan struct{}), buffer: make([]byte, 1<<16)}
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
	// Room for what comes while this program does not run; without it some frames may be missed.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "capture"), nil
}

// run reads until the deadline that end sets.
func (c *capture) run() {
	defer close(c.done)
	conn, err := c.socket.SyscallConn()
	for err == nil {
		err = conn.Read(func(fd uintptr) bool { return c.receive(int(fd)) })
	}
}

// receive takes what is there. It returns false when nothing is, to wait for more.
func (c *capture) receive(fd int) (tookAny bool) {
	for {
		n, err := unix.Read(fd, c.buffer)
		if errors.Is(err, unix.EAGAIN) {
			return tookAny
		}
		tookAny = true // an error is one too: the device went down
		if o, ok := readOpening(c.buffer[:max(n, 0)]); ok {
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

// end returns all that passed until now, what still waits to be read too.
func (c *capture) end() []opening {
	_ = c.socket.SetReadDeadline(time.Now())
	<-c.done
	if conn, err := c.socket.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { c.receive(int(fd)) })
	}
	_ = c.socket.Close()
	return c.all
}
