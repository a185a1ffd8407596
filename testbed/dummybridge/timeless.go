package dummybridge

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"hpnn/internal/packet"
)

// timeless reports whether nothing in the switch depends on time: it tracks no connection, and no flow times out.
func (s *Switch) timeless() (bool, error) {
	conns, err := s.sw.Appctl(context.Background(), "dpctl/ct-get-nconns")
	if err != nil || strings.TrimSpace(conns) != "0" {
		return false, err
	}
	rules, err := s.countRules()
	if err != nil || rules == s.lasting {
		return true, err
	}
	s.lasting = ""
	flows, err := s.bridge.Flows(context.Background())
	if err != nil {
		return false, err
	}
	for _, f := range flows {
		if f.IdleTimeout != 0 || f.HardTimeout != 0 {
			return false, nil
		}
	}
	s.lasting = rules
	return true, nil
}

var rulesInMemory = regexp.MustCompile(`\brules:(\d+)`)

// countRules is the number of flows, for which nobody has to list them.
func (s *Switch) countRules() (string, error) {
	text, err := s.sw.Appctl(context.Background(), "memory/show")
	if err != nil {
		return "", err
	}
	found := rulesInMemory.FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("read memory/show: no rules in %q", text)
	}
	return found[1], nil
}

// fragment reports whether a frame is a part of a datagram: the switch lets it wait for the rest, and does not tell of it.
func fragment(frame []byte) bool {
	return len(frame) >= 22 && packet.Word(frame, 12) == packet.TypeIPv4 && packet.Word(frame, 20)&0x3fff != 0
}
