package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hpnn/datapath"
	"hpnn/internal/packet"
	"hpnn/internal/pcap"
	"hpnn/internal/pipeline"
	"hpnn/internal/replay"
)

// traceFlags are the flags of trace besides those of the node.
type traceFlags struct {
	inPort, hex, pcap string
	frame             int
	alone, json       bool
}

func (a *app) trace() *cobra.Command {
	var o origin
	var f traceFlags
	var d daemon
	c := &cobra.Command{
		Use:   "trace [--topology FILE | --flows FILE --ports LIST] (FLOW | --in-port PORT --hex BYTES | --pcap FILE --frame N)",
		Short: "Show the way of one frame, table by table",
		Long: `trace runs one frame through the rules and prints its way as "ovs-appctl ofproto/trace" does: every table with the flow that
matched, every action, every pass through the connection tracker. Where ofproto/trace assumes what the tracker finds, here it
really is asked. The last line says in words what became of the frame.

The frame is given in one of three ways:
  FLOW                     a flow as for ofproto/trace; what it leaves open is filled in sensibly: MAC addresses from the
                           topology, source address and port made up, a SYN for TCP
  --in-port and --hex      the bytes of the frame
  --pcap and --frame       a frame of a capture, its first being 1. The frames before it are run first, so that connections and
                           learned flows are what they were (--alone does without). The port is that of the file's name,
                           <port>.pcap, unless --in-port names another.

Without --topology and --flows a running node is asked: what would happen to the frame there, now. Nothing is sent.`,
		Example: `  lbctl trace --topology examples/hpnn.yaml in_port=pub0,tcp,nw_src=192.168.5.13,nw_dst=192.168.5.21,tp_dst=80
  lbctl trace --topology examples/hpnn.yaml in_port=pub0,arp,arp_tpa=192.168.5.21
  lbctl trace --topology examples/hpnn.yaml --in-port pub0 --pcap examples/captures/client-pub0.pcap --frame 7
  lbctl trace --flows flows.txt --ports pub0=1,be1=10 in_port=pub0,icmp,nw_src=10.0.0.1,nw_dst=10.0.0.2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.topology == "" && o.flows == "" && f.pcap == "" {
				return a.traceOnline(c, &d, f, args)
			}
			n, err := o.node(c)
			if err != nil {
				return err
			}
			step, err := traced(c, n, f, args)
			if err != nil {
				return err
			}
			return a.showTrace(n.Node, step, f.json)
		},
	}
	o.bindTopology(c)
	o.bindMembers(c)
	o.bindFlows(c)
	d.bind(c)
	c.Flags().StringVar(&f.inPort, "in-port", "", "the `PORT` that the frame enters")
	c.Flags().StringVar(&f.hex, "hex", "", "the frame's `BYTES`; blanks and colons between them do not matter")
	c.Flags().StringVar(&f.pcap, "pcap", "", "a capture `FILE`")
	c.Flags().IntVar(&f.frame, "frame", 0, "the `NUMBER` of the frame in the capture, from 1")
	c.Flags().BoolVar(&f.alone, "alone", false, "do not run the frames before it")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// traceOnline asks a running node.
func (a *app) traceOnline(c *cobra.Command, d *daemon, f traceFlags, args []string) error {
	if len(args) != 1 && f.hex == "" {
		return usage(c, "one of FLOW, --hex and --pcap is needed")
	}
	t, err := d.topology(c.Context())
	if err != nil {
		return err
	}
	frame, err := spelledFrame(c, site{replay.FromTopology(t, pipeline.State{}), &t}, f, args)
	if err != nil {
		return err
	}
	params := url.Values{"in_port": {strconv.Itoa(int(frame.Port))}, "frame": {hex.EncodeToString(frame.Data)}}
	trace, err := get[datapath.Trace](c.Context(), d, "/trace", params)
	if err != nil {
		return err
	}
	if f.json {
		return a.json(trace)
	}
	fmt.Fprintf(a.stdout, "%s\n\n%v", packet.Summary(frame.Data), trace)
	return nil
}

// traced runs the frame that the command line describes.
func traced(c *cobra.Command, n site, f traceFlags, args []string) (replay.Step, error) {
	given := 0
	for _, is := range []bool{len(args) == 1, f.hex != "", f.pcap != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return replay.Step{}, usage(c, "one of FLOW, --hex and --pcap is needed")
	case f.pcap == "" && (f.frame != 0 || f.alone):
		return replay.Step{}, usage(c, "--frame and --alone go with --pcap")
	case f.pcap != "" && f.frame < 1:
		return replay.Step{}, usage(c, "--pcap needs --frame N, from 1")
	case len(args) == 1 && f.inPort != "":
		return replay.Step{}, usage(c, "a FLOW names its port itself: write in_port=%s in it", f.inPort)
	}
	s, err := replay.NewSession(c.Context(), n.Node)
	if err != nil {
		return replay.Step{}, err
	}
	defer s.Close()
	if f.pcap != "" {
		return tracedCapture(s, n, f)
	}
	frame, err := spelledFrame(c, n, f, args)
	if err != nil {
		return replay.Step{}, err
	}
	return s.Explain(frame, discard), nil
}

func discard(int64, datapath.Output) {}

// spelledFrame is the frame that the command line spells out.
func spelledFrame(c *cobra.Command, n site, f traceFlags, args []string) (frame replay.Frame, err error) {
	if len(args) == 1 {
		return buildFrame(n, args[0])
	}
	if f.inPort == "" {
		return frame, usage(c, "--hex needs --in-port PORT")
	}
	if frame.Port, err = n.Port(f.inPort); err != nil {
		return frame, fmt.Errorf("--in-port: %w", err)
	}
	frame.Data, err = hex.DecodeString(strings.NewReplacer(" ", "", ":", "", "\n", "", "\t", "").Replace(f.hex))
	if err != nil {
		return frame, fmt.Errorf("--hex: %w: write two hexadecimal digits for each byte", err)
	}
	return frame, nil
}

// tracedCapture runs a frame of a capture, and those before it unless they are to be left out.
func tracedCapture(s *replay.Session, n site, f traceFlags) (replay.Step, error) {
	frame := replay.Frame{Path: f.pcap}
	name := f.inPort
	if name == "" {
		name, _ = replay.CaptureStem(filepath.Base(f.pcap))
	}
	var err error
	if frame.Port, err = n.Port(name); err != nil {
		return replay.Step{}, fmt.Errorf("say with --in-port where the frames of %s enter: %w", f.pcap, err)
	}
	r, err := pcap.Open(f.pcap)
	if err != nil {
		return replay.Step{}, captureFault(err)
	}
	defer r.Close()
	for {
		if frame.Record, err = r.Next(); errors.Is(err, io.EOF) {
			return replay.Step{}, fmt.Errorf("find frame %d: %s ends before it", f.frame, f.pcap)
		}
		switch {
		case err != nil:
			return replay.Step{}, captureFault(err)
		case frame.Index == f.frame:
			return s.Explain(frame, discard), nil
		case !f.alone:
			s.Receive(frame, discard)
		}
	}
}

// captureFault tells a capture that is at fault from one that is not there.
func captureFault(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return err
	}
	return badAnswer{err}
}

func (a *app) showTrace(n replay.Node, s replay.Step, asJSON bool) error {
	if asJSON {
		return a.json(newExplanation(n, s))
	}
	fmt.Fprintf(a.stdout, "%s  %s\n\n%v\n%s%s\n", a.paint.in(bold, s.Place.Port), packet.Summary(s.Frame.Data), s.Trace,
		a.outputs(n, s, ""), a.paint.in(fateColour(s.Fate), verdict(n, s)))
	return nil
}
