package dummy

import (
	"context"

	"hpnn/internal/ovsproto"
)

// openflow is a connection to the bridge: for barriers, for bundles that ovs-ofctl has encoded, for dumps that it will
// decode, and for deleting everything.
type openflow struct {
	*ovsproto.Conn
	bundles uint32 // opened so far
}

func dialOpenFlow(ctx context.Context, path string) (*openflow, error) {
	conn, err := ovsproto.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return &openflow{Conn: conn}, nil
}

func (o *openflow) hangUp() {
	if o != nil {
		o.Close()
	}
}

// deleteEverything are the messages that empty all flow tables, the group table and the meter table.
func deleteEverything() []ovsproto.Message {
	const command, all = 3, 0xff                                                                  // OFPFC_DELETE, OFPTT_ALL
	flows := make([]byte, 16, 48)                                                                 // cookie, cookie mask
	flows = append(flows, all, command, 0, 0, 0, 0, 0, 0)                                         // timeouts, priority
	flows = append(flows, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // buffer, port, group: any
	flows = append(flows, 0, 0, 0, 0)                                                             // flags, padding
	flows = append(flows, 0, 1, 0, 4, 0, 0, 0, 0)                                                 // empty OXM match
	groups := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xfc, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}      // OFPGC_DELETE, OFPG_ALL
	meters := []byte{0, 2, 0, 0, 0xff, 0xff, 0xff, 0xff}                                          // OFPMC_DELETE, OFPM_ALL
	return []ovsproto.Message{{Type: ovsproto.FlowMod, Body: flows}, {Type: ovsproto.GroupMod, Body: groups}, {Type: ovsproto.MeterMod, Body: meters}}
}
