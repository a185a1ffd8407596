package replay

import "hpnn/datapath/openflow"

// byPort keeps something for each port of a switch, found by the port's number without hashing. It is as
// long as the highest number in use.
type byPort[T any] []*T

// get is what is kept for a port, nil if nothing is.
func (b byPort[T]) get(p openflow.PortNo) *T {
	if int(p) < len(b) {
		return b[p]
	}
	return nil
}

// set keeps v for a port.
func (b *byPort[T]) set(p openflow.PortNo, v *T) {
	if missing := int(p) + 1 - len(*b); missing > 0 {
		*b = append(*b, make([]*T, missing)...)
	}
	(*b)[p] = v
}

// all lists what is kept, in the order of the ports.
func (b byPort[T]) all() (list []*T) {
	for _, v := range b {
		if v != nil {
			list = append(list, v)
		}
	}
	return list
}
