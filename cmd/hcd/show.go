package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"hpnn/internal/node"
)

// refresh is how often --show shows.
const refresh = time.Second

// show prints the members again and again: in place on a terminal, one below the other elsewhere.
func show(ctx context.Context, w io.Writer, n *node.Node, footer func() string) error {
	clear := ""
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		clear = "\x1b[H\x1b[2J"
	}
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		s, err := n.Status(ctx)
		if err != nil {
			return nil // the node has ended
		}
		text := s.Health()
		if footer != nil {
			text += "\n" + footer()
		}
		fmt.Fprintf(w, "%s%s\n", clear, text)
	}
}
