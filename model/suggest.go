package model

import (
	"fmt"
	"slices"
	"strings"
)

// otherNames are words other systems use for our keys.
var otherNames = map[string]string{
	"ip": "address", "addr": "address", "cidr": "prefix", "subnet": "prefix", "network": "prefix", "destination": "prefix",
	"backends": "members", "servers": "members", "targets": "members", "frontends": "listeners", "services": "listeners",
	"networks": "segments", "type": "kind", "role": "kind", "gw": "via", "nexthop": "via", "next_hop": "via",
	"ofport": "number", "hwaddr": "mac", "lladdr": "mac", "healthmonitor": "health", "health_monitor": "health",
	"check": "health", "url": "path", "method": "algorithm", "vip_address": "vip", "segment": "segments", "state": "admin",
}

// unknownKey complains about a key that is none of the known ones, and says which of them may have been meant.
func unknownKey(key string, known []string) (wrong *complaint, meant string) {
	meant = nearest(key, known)
	if other := otherNames[strings.ToLower(key)]; meant == "" && slices.Contains(known, other) {
		meant = other
	}
	if meant != "" {
		return complain(fmt.Sprintf("did you mean %q?", meant), "unknown key"), meant
	}
	return complain("use "+listing(known), "unknown key"), key
}

// nearest returns the known word that differs from word by a few letters only, or "".
func nearest(word string, known []string) string {
	fold := strings.NewReplacer("-", "_", " ", "_")
	word = fold.Replace(strings.ToLower(word))
	best, distance := "", 3
	for _, k := range known {
		limit := (len(k) + 2) / 3
		if d := edits(word, fold.Replace(k)); d < min(distance, limit+1) {
			best, distance = k, d
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace to turn a into b (Levenshtein's distance).
func edits(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// listing joins words as "a, b or c".
func listing(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
