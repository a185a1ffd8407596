package docker

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
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

// engineAll runs the docker command and returns all that it prints.
func engineAll(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("docker %s: %w", strings.Join(args, " "), err)
	}
	return out, err
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
