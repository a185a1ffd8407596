package docker

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"hpnn/model"
)

// engine runs the docker command.
func engine(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// containers are the names of all containers of a topology, the node's first.
func containers(t model.Topology) []string {
	all := []string{t.Node.Name}
	for _, m := range Site(t) {
		all = append(all, m.Container)
	}
	return all
}

// pids are the first processes of all containers, which must run.
func pids(ctx context.Context, t model.Topology) (map[string]int, error) {
	out, err := engine(ctx, append([]string{"inspect", "--format", "{{.Name}} {{.State.Pid}}"}, containers(t)...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: run make up", err)
	}
	return readPIDs(out)
}

// readPIDs reads lines "/NAME PID"; the PID of a container that does not run is 0.
func readPIDs(text string) (map[string]int, error) {
	all := map[string]int{}
	var stopped []string
	for line := range strings.Lines(text) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.TrimPrefix(name, "/")
		pid, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("read docker's answer %q: %w", line, err)
		}
		if pid == 0 {
			stopped = append(stopped, name)
		}
		all[name] = pid
	}
	if len(stopped) > 0 {
		return nil, errors.New("these containers do not run: " + strings.Join(stopped, ", ") + ": run make up, or docker start them")
	}
	return all, nil
}
