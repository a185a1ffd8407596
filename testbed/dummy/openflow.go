package dummy

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// openflow is a bare OpenFlow 1.3 connection to the bridge: enough for barriers and for deleting everything. The
// numbers are those of the OpenFlow Switch Specification 1.3.5, section 7.
type openflow struct {
	conn   net.Conn
	reader *bufio.Reader
	xid    uint32
}

const (
	ofVersion = 4 // OpenFlow 1.3

	ofHello          = 0
	ofError          = 1
	ofEchoRequest    = 2
	ofEchoReply      = 3
	ofFlowMod        = 14
	ofGroupMod       = 15
	ofBarrierRequest = 20
	ofBarrierReply   = 21
	ofMeterMod       = 29

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
	return o.await(ctx)
}

func (o *openflow) await(ctx context.Context) error {
	var refused error
	for {
		kind, xid, body, err := o.read(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("await barrier: %w", err)
		case kind == ofBarrierReply && xid == o.xid:
			return refused
		case kind == ofEchoRequest:
			if err := o.send(ctx, message(ofEchoReply, xid, body)); err != nil {
				return fmt.Errorf("answer echo: %w", err)
			}
		case kind == ofError && len(body) >= 4 && refused == nil:
			refused = &RefusedError{Command: "openflow", Words: fmt.Sprintf("error type %d code %d",
				binary.BigEndian.Uint16(body), binary.BigEndian.Uint16(body[2:]))}
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
	groups := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xfc}                                          // OFPGC_DELETE, OFPG_ALL
	meters := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xff}                                          // OFPMC_DELETE, OFPM_ALL
	return [][]byte{message(ofFlowMod, 0, flows), message(ofGroupMod, 0, groups), message(ofMeterMod, 0, meters)}
}
