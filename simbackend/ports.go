package simbackend

import (
	"hpnn/datapath"
	"hpnn/datapath/openflow"
)

// portIndex finds ports by number: the pages in use of all numbers, for a frame asks several times.
type portIndex [256]*[256]*datapath.Port

func (x *portIndex) find(n openflow.PortNo) *datapath.Port {
	if page := x[uint8(n>>8)]; page != nil {
		return page[uint8(n)]
	}
	return nil
}

func (x *portIndex) add(p *datapath.Port) {
	page := &x[uint8(p.Number>>8)]
	if *page == nil {
		*page = new([256]*datapath.Port)
	}
	(*page)[uint8(p.Number)] = p
}
