package shard

// value is what is known of an address of a frame.
type value struct {
	kind kind
	area prefix   // of a key or a foreigner: the longest prefix it is in
	set  []uint32 // of a name: which it may be, in ascending order
}

// kind says what an address is.
type kind uint8

const (
	unknown   kind = iota // it may be anything
	key                   // what the frame belongs to, as it came in
	foreigner             // one of two that are no names
	name
)

// answer is what a condition on an address comes to.
type answer uint8

const (
	no answer = iota
	maybe
	yes
)

// meets asks whether an address is in a prefix. If only some are, then some are what is known of the
// address where it is, and others where it is not.
func (v value) meets(p prefix) (a answer, some, others value) {
	switch v.kind {
	case key, foreigner:
		if v.area.within(p) {
			return yes, v, v
		}
		return no, v, v // a prefix longer than the longest it is in, or a name
	case name:
		some, others = v, v
		some.set, others.set = nil, nil
		for _, each := range v.set {
			if p.holds(each) {
				some.set = append(some.set, each)
			} else {
				others.set = append(others.set, each)
			}
		}
		switch {
		case len(some.set) == 0:
			return no, v, v
		case len(others.set) == 0:
			return yes, v, v
		}
		return maybe, some, others
	}
	return maybe, v, v
}
