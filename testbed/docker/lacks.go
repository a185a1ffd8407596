package docker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// Lacks says what this machine needs before the stand can be built, each with advice; nothing if it has all.
func Lacks(ctx context.Context) (all []string) {
	all = lacksForContainers(ctx)
	if runtime.GOOS == "linux" && !hasCompose(ctx) {
		all = append(all, "Compose is not installed: apt-get install docker-compose, or docker-compose-plugin")
	}
	return all
}

// lacksForContainers says what is missing to run and wire containers.
func lacksForContainers(ctx context.Context) (all []string) {
	if runtime.GOOS != "linux" {
		return []string{"the containers are wired by network namespaces: use linux, in a virtual machine if need be"}
	}
	if os.Geteuid() != 0 {
		all = append(all, "root is needed to wire the containers: run it with sudo")
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return append(all, "docker is not installed: apt-get install docker.io docker-compose")
	}
	if _, err := engine(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		all = append(all, fmt.Sprintf("Docker's engine does not answer: systemctl start docker, or service docker start (%v)", err))
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		all = append(all, "/dev/net/tun is missing, the node's own ports need it: modprobe tun")
	}
	return all
}

func hasCompose(ctx context.Context) bool {
	if _, err := engine(ctx, "compose", "version"); err == nil {
		return true
	}
	_, err := exec.LookPath("docker-compose")
	return err == nil
}
