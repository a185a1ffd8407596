//go:build !linux

package main

import (
	"context"
	"errors"
)

func run(context.Context, options) error {
	return errors.New("measure: Open vSwitch with DPDK needs linux")
}
