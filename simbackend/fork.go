package simbackend

import (
	"slices"

	"hpnn/datapath/openflow"
	"hpnn/simbackend/conntrack"
	"hpnn/simbackend/flow"
)

// fork is a ct(table=) at the end of a pass, and what was found behind it. Passes that end alike share it.
type fork struct {
	request *conntrack.Request
	table   openflow.TableID
	stack   []openflow.Value
	frozen  flow.Key // without the frame's fields

	megaflows
}

func (k *fork) equal(o *fork) bool {
	return *k.request == *o.request && k.table == o.table && slices.Equal(k.stack, o.stack) && k.frozen == o.frozen
}

// forks is all of them, by hash.
type forks map[uint64][]*fork

// of is the fork that is like k.
func (all forks) of(k *fork) *fork {
	r := k.request
	hash := spread(k.frozen.Hash() ^ uint64(k.table) ^ spread(r.Label.Lo^r.Label.Hi<<1^uint64(r.Mark)<<32^uint64(r.Zone)))
	for _, o := range all[hash] {
		if o.equal(k) {
			return o
		}
	}
	all[hash] = append(all[hash], k)
	return k
}
