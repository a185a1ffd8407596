package health

import "context"

// TCP probes by connecting: the member passes if it accepts. The connection is closed at once and in order, with a FIN:
// many servers log a reset as an error, every two seconds and for every node.
type TCP struct {
	Dial Dial // nil stands for NetDial
}

// Probe implements [Prober].
func (p TCP) Probe(ctx context.Context, t Target) Result {
	return timed(ctx, t, func(ctx context.Context) error {
		_, closeConn, err := p.Dial.open(ctx, "tcp", t)
		if err != nil {
			return err
		}
		closeConn()
		return nil
	})
}
