// Package docker is the stand of a topology in containers: the node, a web server for each member, clients, and what is
// beyond the uplinks. docs/docker.md walks through it; docker.mk has the targets.
//
// The containers have no network of Docker's. [Attach] gives each of them one card, wired to a port of the node's bridge,
// as a hypervisor would: name, MAC, address and routes are set from outside. Nothing of the stand is in the namespace of
// the machine it runs on, so no frame can leave it and nothing stays when the containers are gone.
//
// Which containers there are, and all they are given, follows from the topology: [Site], [Compose].
package docker
