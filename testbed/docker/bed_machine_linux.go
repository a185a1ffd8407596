package docker

import (
	"context"
	"fmt"
	"os"
	"sync"

	"hpnn/datapath/openflow"
	"hpnn/internal/packet"
	"hpnn/model"
	"hpnn/testbed"
	"hpnn/testbed/realtime"
)

// actor is a machine of a bed.
type actor struct {
	bed *bed
	m   Machine

	mu     sync.Mutex // a story's requests are made by goroutines of their own
	spaces []*space   // the last is the present one; it lives on when the container is killed, as the kernel of a machine whose processes are
}

// kernel is the node's own, where probes leave.
type kernel struct {
	space  *space
	about  testbed.Machine
	device string
}

var (
	_ realtime.Machine = (*actor)(nil)
	_ realtime.Machine = kernel{}
)

func portNumber(p model.Port) openflow.PortNo { return openflow.PortNo(p.Number) }

func (a *actor) behindUplink(s model.Segment) bool { return s.Uplink != nil && a.m.Port == *s.Uplink }

// About implements realtime.Machine.
func (a *actor) About() testbed.Machine {
	role := testbed.Client
	if a.m.Role == Backend {
		role = testbed.Member
	}
	return testbed.Machine{Name: a.m.Name, Address: a.m.Address.Addr(), MAC: packet.MAC(a.m.MAC), Port: portNumber(a.m.Port), Role: role}
}

// Device implements realtime.Machine.
func (a *actor) Device() string { return card }

// Enter implements realtime.Machine.
func (a *actor) Enter(f func() error) error { return a.space().do(f) }

func (a *actor) space() *space {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spaces[len(a.spaces)-1]
}

func (a *actor) enters(s *space) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spaces = append(a.spaces, s)
}

// Web implements realtime.Machine.
func (a *actor) Web() uint16 {
	if a.m.Serves == nil {
		return 0
	}
	return a.m.Serves[0]
}

// Act implements realtime.Machine.
func (a *actor) Act(act testbed.Act) error {
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	port := a.m.Port.Name
	switch act.Kind {
	case testbed.Freeze:
		return a.tell(ctx, "pause")
	case testbed.Thaw:
		return a.tell(ctx, "unpause")
	case testbed.Kill:
		return a.tell(ctx, "kill")
	case testbed.Revive:
		return a.revive(ctx)
	case testbed.Cut:
		return a.bed.space.down(port)
	case testbed.Mend:
		return a.bed.space.up(port)
	}
	return fmt.Errorf("do %d to %s: bed docker cannot", act.Kind, a.m.Name)
}

// tell has the engine do something with the container.
func (a *actor) tell(ctx context.Context, what string) error {
	_, err := engine(ctx, what, a.m.Container)
	return err
}

// revive starts the container again. It has a new network namespace then, and gets a wire.
func (a *actor) revive(ctx context.Context) error {
	if err := a.tell(ctx, "start"); err != nil {
		return err
	}
	alone := stand{a.bed.topology, a.bed.node, []Machine{a.m}} // others may be dead
	if _, err := alone.attach(ctx, ""); err != nil {
		return err
	}
	pids, err := alone.pids(ctx)
	if err != nil {
		return err
	}
	fresh, err := enter(a.m.Container, pids[a.m.Container])
	if err != nil {
		return err
	}
	fresh.tune()
	a.enters(fresh)
	return nil
}

// About implements realtime.Machine.
func (k kernel) About() testbed.Machine { return k.about }

// Device implements realtime.Machine.
func (k kernel) Device() string { return k.device }

// Enter implements realtime.Machine.
func (k kernel) Enter(f func() error) error { return k.space.do(f) }

// Web implements realtime.Machine.
func (kernel) Web() uint16 { return 0 }

// Act implements realtime.Machine.
func (k kernel) Act(act testbed.Act) error {
	return fmt.Errorf("do %d to %s: it is the node's own kernel", act.Kind, k.about.Name)
}

// tune sets what stories need of a machine's kernel: a port that was used a second ago can be used again, and who asks for a
// neighbour asks with the address of that segment.
func (s *space) tune() {
	_ = s.do(func() error {
		for name, value := range map[string]string{"ipv4/tcp_tw_reuse": "1", "ipv4/conf/all/arp_announce": "2"} {
			_ = os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o644) // who needs it will fail
		}
		return nil
	})
}
