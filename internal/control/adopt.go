package control

import (
	"context"
	"fmt"
	"time"

	"hpnn/internal/pipeline"
)

// Adopt takes the members that own slots in the switch for up, so that a restart changes nothing for
// traffic; verdicts correct it as they arrive. A member without slots counts as down, but its connections are
// kept until a verdict says the same: it may have been drained by somebody whose word was not kept. It returns the members it took. A switch without
// slots of ours leaves everything as it was.
func (c *Core) Adopt(ctx context.Context, now time.Time) ([]pipeline.MemberName, error) {
	have, err := c.bridge.Flows(ctx)
	if err != nil {
		return nil, fmt.Errorf("adopt what the switch holds: %w", err)
	}
	owners := pipeline.Owners(c.topology, plain(have))
	if len(owners) == 0 {
		return nil, nil
	}
	for name := range c.members() {
		c.down[name], c.doubted[name] = true, true
	}
	for _, name := range owners {
		c.down[name] = false
		delete(c.doubted, name)
	}
	c.due = now
	return owners, nil
}
