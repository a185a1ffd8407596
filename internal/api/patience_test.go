package api_test

import "time"

// What a node over a real listener may take, and how often the tests look.
const (
	patience = 20 * time.Second
	tick     = 10 * time.Millisecond
)
