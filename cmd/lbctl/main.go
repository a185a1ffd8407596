// Command lbctl inspects an OpenFlow node: what rules its topology means, how its slots are laid
// out, and what becomes of frames and whole captures; all that without a switch. On a running node
// it looks inside and steers (online.go).
//
// A command is a file of its own: it binds its flags, asks for a node (node.go) and prints. What
// it prints for people is aligned by grid.go and coloured by paint.go, on a terminal only.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
