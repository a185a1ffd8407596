package netns

import "sync"

// building is read-locked while a bed is built. Who locks it for good has nothing built any more.
var building sync.RWMutex

// beds are those that are not closed.
var beds struct {
	sync.Mutex
	open  map[*Bed]bool
	swept bool
}

func register(b *Bed) {
	beds.Lock()
	defer beds.Unlock()
	if beds.open == nil {
		beds.open = map[*Bed]bool{}
	}
	beds.open[b] = true
}

func forget(b *Bed) {
	beds.Lock()
	defer beds.Unlock()
	delete(beds.open, b)
}

// sweepOnce removes what dead runs have left, and prepares the directory of names, the first time a process builds a bed.
func sweepOnce() error {
	beds.Lock()
	defer beds.Unlock()
	if beds.swept {
		return nil
	}
	_, err := Sweep()
	if err == nil {
		err = shareNames()
	}
	beds.swept = err == nil
	return err
}

// CloseAll closes all beds of the process, after those that are being built are complete, and lets no other be built: for
// one that was told to end.
func CloseAll() {
	building.Lock() // for good
	beds.Lock()
	var all []*Bed
	for b := range beds.open {
		all = append(all, b)
	}
	beds.Unlock()
	var closing sync.WaitGroup
	for _, b := range all {
		closing.Go(b.Close)
	}
	closing.Wait()
}
