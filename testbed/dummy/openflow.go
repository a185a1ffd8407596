package dummy

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// openflow is a bare OpenFlow 1.5 connection to the bridge: enough for barriers, for bundles that ovs-ofctl has encoded,
// for dumps that it will decode, and for deleting everything. The numbers are those of the OpenFlow Switch Specification
// 1.5.1, section 7.
type openflow struct {
	conn   net.Conn
	reader *bufio.Reader
	xid    uint32

	bundles uint32 // opened so far
}

const (
	ofVersion = 6 // OpenFlow 1.5

	ofHello          = 0
	ofError          = 1
	ofEchoRequest    = 2
	ofEchoReply      = 3
	ofFlowMod        = 14
	ofGroupMod       = 15
	ofPartRequest    = 18
	ofPartReply      = 19
	ofBarrierRequest = 20
	ofBarrierReply   = 21
	ofMeterMod       = 29
	ofBundleControl  = 33
	ofBundleAdd      = 34

	ofHeaderLength = 8
)

func dialOpenFlow(ctx context.Context, path string) (*openflow, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	o := &openflow{conn: conn, reader: bufio.NewReader(conn)}
	if err := o.send(ctx, message(ofHello, 0, nil)); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *openflow) close() {
	if o != nil {
		_ = o.conn.Close()
	}
}

// barrier returns when the bridge has finished all that was queued before the call. An error that the bridge reported
// meanwhile is returned, after the barrier.
func (o *openflow) barrier(ctx context.Context, before ...[]byte) error {
	o.xid++
	var out []byte
	for _, m := range before {
		out = append(out, m...)
	}
	out = append(out, message(ofBarrierRequest, o.xid, nil)...)
	if err := o.send(ctx, out); err != nil {
		return fmt.Errorf("send barrier: %w", err)
	}
	var refused error
	for {
		kind, xid, body, err := o.next(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("await barrier: %w", err)
		case kind == ofBarrierReply && xid == o.xid:
			return refused
		case kind == ofError && refused == nil:
			refused = refusal(body)
		}
	}
}

// received returns how many frames the bridge has taken from a port and finished since the port exists.
func (o *openflow) received(ctx context.Context, port uint32) (uint64, error) {
	const statistics, replyHeader, counter = 4, 8, 16 // OFPMP_PORT_STATS; lengths and offset in bytes
	o.xid++
	body := binary.BigEndian.AppendUint32([]byte{0, statistics, 0, 0, 0, 0, 0, 0}, port)
	if err := o.send(ctx, message(ofPartRequest, o.xid, append(body, 0, 0, 0, 0))); err != nil {
		return 0, fmt.Errorf("ask for port statistics: %w", err)
	}
	for {
		kind, xid, body, err := o.next(ctx)
		switch {
		case err != nil:
			return 0, fmt.Errorf("await port statistics: %w", err)
		case xid != o.xid:
		case kind == ofError:
			return 0, refusal(body)
		case kind == ofPartReply && len(body) >= replyHeader+counter+8:
			return binary.BigEndian.Uint64(body[replyHeader+counter:]), nil
		default:
			return 0, fmt.Errorf("await port statistics: got message type %d of %d bytes", kind, len(body))
		}
	}
}

// refusal turns the body of an error message into an error.
func refusal(body []byte) error {
	if len(body) < 4 {
		return &RefusedError{Command: "openflow", Words: "an error without a code"}
	}
	return &RefusedError{Command: "openflow", Words: fmt.Sprintf("error type %d code %d",
		binary.BigEndian.Uint16(body), binary.BigEndian.Uint16(body[2:]))}
}

// next returns the next message that is not the bridge asking whether we live.
func (o *openflow) next(ctx context.Context) (kind byte, xid uint32, body []byte, err error) {
	for {
		kind, xid, body, err = o.read(ctx)
		if err != nil || kind != ofEchoRequest {
			return kind, xid, body, err
		}
		if err := o.send(ctx, message(ofEchoReply, xid, body)); err != nil {
			return 0, 0, nil, fmt.Errorf("answer echo: %w", err)
		}
	}
}

func (o *openflow) send(ctx context.Context, data []byte) error {
	return within(ctx, o.conn, func() error {
		_, err := o.conn.Write(data)
		return err
	})
}

func (o *openflow) read(ctx context.Context) (kind byte, xid uint32, body []byte, err error) {
	var header [ofHeaderLength]byte
	err = within(ctx, o.conn, func() error {
		if _, err := io.ReadFull(o.reader, header[:]); err != nil {
			return err
		}
		length := int(binary.BigEndian.Uint16(header[2:]))
		if length < ofHeaderLength {
			return fmt.Errorf("message of %d bytes is shorter than its header", length)
		}
		body = make([]byte, length-ofHeaderLength)
		_, err := io.ReadFull(o.reader, body)
		return err
	})
	return header[1], binary.BigEndian.Uint32(header[4:]), body, err
}

func message(kind byte, xid uint32, body []byte) []byte {
	m := []byte{ofVersion, kind}
	m = binary.BigEndian.AppendUint16(m, uint16(ofHeaderLength+len(body)))
	m = binary.BigEndian.AppendUint32(m, xid)
	return append(m, body...)
}

// deleteEverything are the messages that empty all flow tables, the group table and the meter table.
func deleteEverything() [][]byte {
	const command, all = 3, 0xff                                                                  // OFPFC_DELETE, OFPTT_ALL
	flows := make([]byte, 16, 48)                                                                 // cookie, cookie mask
	flows = append(flows, all, command, 0, 0, 0, 0, 0, 0)                                         // timeouts, priority
	flows = append(flows, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // buffer, port, group: any
	flows = append(flows, 0, 0, 0, 0)                                                             // flags, padding
	flows = append(flows, 0, 1, 0, 4, 0, 0, 0, 0)                                                 // empty OXM match
	groups := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xfc, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}      // OFPGC_DELETE, OFPG_ALL
	meters := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xff}                                          // OFPMC_DELETE, OFPM_ALL
	return [][]byte{message(ofFlowMod, 0, flows), message(ofGroupMod, 0, groups), message(ofMeterMod, 0, meters)}
}
