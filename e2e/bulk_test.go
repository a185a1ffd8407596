//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// bulkTransfers: several long downloads at a time fill windows, queues and the switch. What is lost on the way is sent again, and
// the connection tracker must follow it all.
func bulkTransfers(s *site, t *testing.T) {
	const downloads, size = 4, 8 << 20
	want := make([]byte, size)
	_, err := rand.NewChaCha8([32]byte{}).Read(want)
	require.NoError(t, err)
	client := s.bed.Machine("client").Client(time.Minute)
	var g errgroup.Group
	before := s.invalid(t)
	begun := time.Now()
	for range downloads {
		g.Go(func() error {
			r, err := client.Get(fmt.Sprintf("%sbig?bytes=%d", public, size))
			if err != nil {
				return err
			}
			defer r.Body.Close()
			got, err := io.ReadAll(r.Body)
			if err == nil && !bytes.Equal(got, want) {
				err = fmt.Errorf("%d bytes came, and not those that were sent", len(got))
			}
			return err
		})
	}
	require.NoError(t, g.Wait())
	took := time.Since(begun)
	s.table.add(fmt.Sprintf("%d downloads of %d MB at a time", downloads, size>>20),
		fmt.Sprintf("whole, %.0f Mbit/s together", float64(downloads*size*8)/took.Seconds()/1e6), "whole")
	s.table.add("segments called invalid meanwhile", fmt.Sprint(s.invalid(t)-before), "")
}

// invalid counts the segments so far that the connection tracker called invalid.
func (s *site) invalid(t *testing.T) (n uint64) {
	body, err := s.bed.Call(t.Context(), "GET", "/flows")
	require.NoError(t, err)
	var flows []struct {
		Flow    string `json:"flow"`
		Packets uint64 `json:"packets"`
	}
	require.NoError(t, json.Unmarshal(body, &flows))
	for _, f := range flows {
		if strings.Contains(f.Flow, "ct_state=+inv") {
			n += f.Packets
		}
	}
	return n
}
