package simbackend_test

import "hpnn/simbackend"

// labPorts are the ports of the lab whose rules are in internal/replay/testdata/ovs-lab.
var labPorts = []simbackend.Port{
	{Number: 1, Name: "pub0"}, {Number: 4, Name: "hcif-p2"}, {Number: 5, Name: "hcif-p3"}, {Number: 10, Name: "be1"},
	{Number: 11, Name: "be3"}, {Number: 12, Name: "cli2"}, {Number: 20, Name: "be2"}, {Number: 21, Name: "be4"}, {Number: 22, Name: "cli3"},
}

const labFlows = "../internal/replay/testdata/ovs-lab/flows.txt"
