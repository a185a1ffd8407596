// Package e2e proves on real kernels, real HTTP and a real Open vSwitch what the simulator promises.
//
//	go test -tags e2e -v ./e2e
//
// needs root and openvswitch-switch; without them it skips and says so. With HPNN_E2E_BED=netns-sim the simulator stands in the
// place of Open vSwitch. The site is examples/hpnn.yaml with short
// probe intervals, built by package netns; what was measured is a table at the end. docs/testing.md says more.
package e2e
