package control

import (
	"encoding/hex"
	"slices"
	"time"

	"hpnn/internal/maglev"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

// View is the loop's state as people and programs ask for it.
type View struct {
	Pools []PoolView `json:"pools"`
	// InSync: the last step found or made the switch as it should be.
	InSync   bool   `json:"in_sync"`
	Failure  string `json:"failure,omitempty"` // of the last step
	Failures int    `json:"failures"`          // steps that failed since the start
	Repairs  int    `json:"repairs"`           // steps that found the switch altered
	Commits  int    `json:"commits"`           // bundles that took effect
}

// PoolView is a pool and its slot table.
type PoolView struct {
	Name      string       `json:"name"`
	ID        uint16       `json:"id"`
	Slots     int          `json:"slots"`
	Algorithm string       `json:"algorithm"`
	Hash      string       `json:"hash"`
	Policy    string       `json:"no_live_member"`
	Live      int          `json:"live"`   // members that own slots
	Digest    string       `json:"digest"` // of the slot table, SHA-256 in hexadecimal
	Changed   time.Time    `json:"changed"`
	Moved     int          `json:"moved"`   // slots that moved at the last change
	Foreign   int          `json:"foreign"` // of these, those that need not have
	Members   []MemberView `json:"members"`
}

// MemberView is a member of a pool.
type MemberView struct {
	Name   string `json:"name"`
	Key    string `json:"address"` // address:port
	Weight int    `json:"weight"`
	Up     bool   `json:"up"`
	// Doubted: down only because the switch held no slots of it when it was adopted; no verdict has come yet.
	Doubted bool `json:"doubted,omitempty"`

	Admin  string `json:"admin"`
	InPool bool   `json:"in_pool"` // owns slots
	Slots  int    `json:"slots"`
}

// lastMove is what the last change of a pool's slots was.
type lastMove struct {
	at     time.Time
	report maglev.Report
}

// View is the state now.
func (c *Core) View() View {
	v := View{InSync: c.failure == nil && !c.changed, Failures: c.failures, Repairs: c.repairs, Commits: c.commits}
	if c.failure != nil {
		v.Failure = c.failure.Error()
	}
	for _, p := range c.Effective().Pools {
		v.Pools = append(v.Pools, c.pool(p))
	}
	return v
}

func (c *Core) pool(p model.Pool) PoolView {
	table := c.layouts[p.ID]
	digest := table.Digest()
	v := PoolView{
		Name: p.Name, ID: p.ID, Slots: int(p.Slots), Algorithm: p.Algorithm.String(), Hash: p.Hash.String(), Policy: p.NoLiveMember.String(),
		Digest: hex.EncodeToString(digest[:]), Changed: c.moves[p.ID].at,
		Moved: c.moves[p.ID].report.Moved, Foreign: c.moves[p.ID].report.Foreign,
	}
	shares := table.Shares()
	for _, m := range p.Members {
		name := pipeline.MemberName{Pool: p.Name, Member: m.Name}
		member := MemberView{
			Name: m.Name, Key: m.Key(), Weight: m.Weight, Admin: m.Admin.String(),
			Up: !c.down[name], Doubted: c.doubted[name],
		}
		if i := slices.IndexFunc(shares, func(s maglev.Share) bool { return s.Key == m.Key() }); i >= 0 {
			member.Slots = shares[i].Slots
		}
		if member.InPool = member.Slots > 0; member.InPool {
			v.Live++
		}
		v.Members = append(v.Members, member)
	}
	return v
}
