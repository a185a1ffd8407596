package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/testbed/simswitch"
)

func TestPortsOfFlags(t *testing.T) {
	all, err := ports(map[string]int{"pub0": 1, "be1": 10}, map[string]int{"probe0": 0xfeff})
	require.NoError(t, err)
	require.Equal(t, []simswitch.Port{
		{Name: "be1", Number: 10}, {Name: "pub0", Number: 1}, {Name: "probe0", Number: 0xfeff, Internal: true},
	}, all)
	_, err = ports(map[string]int{"pub0": 65537}, nil)
	require.EqualError(t, err, "--port pub0=65537: ports have numbers from 1 to 65279")
	_, err = ports(nil, map[string]int{"probe0": -1})
	require.EqualError(t, err, "--internal probe0=-1: ports have numbers from 1 to 65279")
}
