package api

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"hpnn/datapath"
	"hpnn/datapath/openflow"
	"hpnn/internal/control"
	"hpnn/internal/pipeline"
	"hpnn/model"
)

func (s *Server) routes() {
	s.route("GET /healthz", s.healthz)
	s.route("GET /status", s.status)
	s.route("GET /status.txt", s.statusText)
	s.route("GET /topology", s.topology)
	s.route("GET /flows", s.flows, "table")
	s.route("GET /traffic", s.traffic)
	s.route("GET /ports", s.ports)
	s.route("GET /conns", s.conns)
	s.route("GET /fdb", s.fdb)
	s.route("GET /trace", s.traceFrame, "in_port", "frame")
	s.route("POST /drain", s.admin(model.Drained), "member")
	s.route("POST /enable", s.admin(model.Enabled), "member")
	s.route("POST /reapply", s.reapply)
	s.mux.Handle("GET /metrics", s.metrics.handler())
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, fmt.Errorf("%s %s: no such call", r.Method, r.URL.Path))
	})
	for _, path := range []string{"/drain", "/enable", "/reapply"} {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", http.MethodPost)
			fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%s changes something: use POST", r.URL.Path))
		})
	}
}

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.node.Status(r.Context()); err != nil {
		return err
	}
	return text(w, "ok\n")
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	status, err := s.node.Status(r.Context())
	if err != nil {
		return err
	}
	return reply(w, status)
}

func (s *Server) statusText(w http.ResponseWriter, r *http.Request) error {
	status, err := s.node.Status(r.Context())
	if err != nil {
		return err
	}
	return text(w, status.Health())
}

// topology is the one in force, with the operator's word in it, as YAML.
func (s *Server) topology(w http.ResponseWriter, r *http.Request) error {
	t, err := s.node.Topology(r.Context())
	if err != nil {
		return err
	}
	return text(w, string(t.YAML()))
}

// Flow is a flow of the switch.
type Flow struct {
	Table   openflow.TableID `json:"table"`
	Name    string           `json:"name"` // of the table
	Flow    string           `json:"flow"` // in ovs-ofctl's syntax
	Packets uint64           `json:"packets"`
	Bytes   uint64           `json:"bytes"`
	Age     float64          `json:"age"`  // seconds since it was added
	Idle    float64          `json:"idle"` // seconds since it was last hit
}

func (s *Server) flows(w http.ResponseWriter, r *http.Request) error {
	table := -1
	if t := r.URL.Query().Get("table"); t != "" {
		n, err := strconv.ParseUint(t, 10, 8)
		if err != nil {
			return badRequest{fmt.Errorf("table %q: use a number, 0 to 254", t)}
		}
		table = int(n)
	}
	entries, err := s.node.Bridge().Flows(r.Context())
	if err != nil {
		return err
	}
	names := map[openflow.TableID]string{}
	for _, t := range pipeline.Tables() {
		names[t.ID] = t.Name
	}
	flows := []Flow{}
	for _, e := range entries {
		if table < 0 || int(e.Table) == table {
			flows = append(flows, Flow{e.Table, names[e.Table], e.Flow.String(), e.Packets, e.Bytes, e.Duration.Seconds(), e.IdleAge.Seconds()})
		}
	}
	return reply(w, flows)
}

// PoolTraffic is what the switch counted of a pool.
type PoolTraffic struct {
	Pool    string          `json:"pool"`
	Dropped uint64          `json:"dropped"` // packets for which no member was live
	Members []MemberTraffic `json:"members"`
}

// MemberTraffic is what the switch counted of a member's slots, and the connections it serves.
type MemberTraffic struct {
	Member      string `json:"member"`
	Packets     uint64 `json:"packets"`
	Bytes       uint64 `json:"bytes"`
	Connections int    `json:"connections"`
}

func (s *Server) traffic(w http.ResponseWriter, r *http.Request) error {
	t, err := s.node.Topology(r.Context())
	if err != nil {
		return err
	}
	traffic, err := s.node.Traffic(r.Context())
	if err != nil {
		return err
	}
	pools := []PoolTraffic{}
	for _, p := range t.Pools {
		pool := PoolTraffic{Pool: p.Name, Dropped: traffic.Dropped[p.Name]}
		for _, m := range p.Members {
			c := traffic.Member(p.Name, m.Name)
			pool.Members = append(pool.Members, MemberTraffic{m.Name, c.Packets, c.Bytes, c.Connections})
		}
		pools = append(pools, pool)
	}
	return reply(w, pools)
}

func (s *Server) ports(w http.ResponseWriter, r *http.Request) error {
	ports, err := s.node.Bridge().Ports(r.Context())
	if err != nil {
		return err
	}
	return reply(w, ports)
}

func (s *Server) conns(w http.ResponseWriter, r *http.Request) error {
	conns, err := s.node.Bridge().Conntrack().Connections(r.Context(), datapath.ConnFilter{})
	if err != nil {
		return err
	}
	return reply(w, listed(conns))
}

// listed is a list that is not null when it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// fdb lists what was learned: the addresses of the segments.
func (s *Server) fdb(w http.ResponseWriter, r *http.Request) error {
	entries, err := s.node.Bridge().Flows(r.Context())
	if err != nil {
		return err
	}
	learned, err := s.node.Learned(r.Context(), entries)
	if err != nil {
		return err
	}
	return reply(w, listed(learned))
}

func (s *Server) traceFrame(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	frame, err := hex.DecodeString(query.Get("frame"))
	if err != nil {
		return badRequest{fmt.Errorf("frame: %w: use hexadecimal bytes", err)}
	}
	port, err := strconv.ParseUint(query.Get("in_port"), 10, 16)
	if err != nil {
		return badRequest{fmt.Errorf("in_port %q: use an OpenFlow port number", query.Get("in_port"))}
	}
	trace, err := s.node.Bridge().Trace(r.Context(), datapath.Injection{InPort: openflow.PortNo(port), Frame: frame})
	if err != nil {
		return badRequest{err}
	}
	return reply(w, trace)
}

// admin answers /drain and /enable.
func (s *Server) admin(to model.AdminState) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		member := r.URL.Query().Get("member")
		if member == "" {
			return badRequest{errors.New("member is missing: name it as member=be1 or member=pool/be1")}
		}
		names, err := s.node.SetAdmin(r.Context(), member, to, who(r))
		if errors.Is(err, control.ErrStopped) || len(names) > 0 {
			if err != nil {
				return err
			}
		} else if err != nil {
			return badRequest{err}
		}
		var set []string
		for _, n := range names {
			set = append(set, n.String())
		}
		return reply(w, map[string]any{"members": set, "admin": to})
	}
}

func (s *Server) reapply(w http.ResponseWriter, r *http.Request) error {
	if err := s.node.Reapply(r.Context(), who(r)); err != nil {
		return err
	}
	return reply(w, map[string]string{"reapply": "asked for"})
}

// who is the caller, for the log.
func who(r *http.Request) string {
	if r.RemoteAddr == "" || r.RemoteAddr == "@" {
		return "unix socket"
	}
	return r.RemoteAddr
}
