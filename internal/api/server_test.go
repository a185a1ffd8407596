package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
	"hpnn/internal/api"
	"hpnn/internal/node"
	"hpnn/model"
	"hpnn/simbackend"
)

// desk is a node with an API over a simulated switch. Its members are not probed and count as live.
type desk struct {
	t   *testing.T
	url string
	log *strings.Builder
}

func newDesk(t *testing.T) *desk {
	topology, err := model.Load(filepath.Join("..", "..", "examples", "hpnn.yaml"))
	require.NoError(t, err)
	topology.Pools[0].Health = model.HealthMonitor{Type: model.MonitorNone}
	var ports []simbackend.Port
	for _, p := range topology.Ports() {
		ports = append(ports, simbackend.Port{Number: openflow.PortNo(p.Number), Name: p.Name})
	}
	sw, err := simbackend.New(simbackend.Config{Ports: ports})
	require.NoError(t, err)
	log := &strings.Builder{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	metrics := api.NewMetrics("test")
	n, err := node.New(t.Context(), node.Config{Topology: topology, Bridge: sw, Log: logger, Observer: metrics})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- n.Run(t.Context()) }()
	server := httptest.NewServer(api.New(n, metrics, logger))
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, sw.Close())
		<-done
	})
	return &desk{t: t, url: server.URL, log: log}
}

func (d *desk) call(method, path string, change func(*http.Request)) (int, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, nil)
	require.NoError(d.t, err)
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	return resp.StatusCode, string(body)
}

func (d *desk) get(path string) string {
	d.t.Helper()
	code, body := d.call(http.MethodGet, path, nil)
	require.Equal(d.t, http.StatusOK, code, body)
	return body
}

func TestStatusTellsWhatTheNodeDoes(t *testing.T) {
	d := newDesk(t)
	require.Eventually(t, func() bool {
		var s node.Status
		require.NoError(t, json.Unmarshal([]byte(d.get("/status")), &s))
		return s.Control.InSync && s.Pools[0].Live == 4 && s.Pools[0].Members[0].Slots == 256
	}, patience, tick)
	require.Contains(t, d.get("/status.txt"), "be1     10.20.0.2:8080  up     enabled  yes      256")
	require.Equal(t, "ok\n", d.get("/healthz"))
}

func TestDrainAndEnable(t *testing.T) {
	d := newDesk(t)
	code, body := d.call(http.MethodPost, "/drain?member=be1", nil)
	require.Equal(t, http.StatusOK, code, body)
	require.JSONEq(t, `{"members": ["web/be1"], "admin": "drained"}`, body)
	require.Eventually(t, func() bool { return strings.Contains(d.get("/status.txt"), "drained  no") }, patience, tick)
	code, _ = d.call(http.MethodPost, "/enable?member=web/be1", nil)
	require.Equal(t, http.StatusOK, code)
	require.Eventually(t, func() bool { return !strings.Contains(d.get("/status.txt"), "drained") }, patience, tick)
	require.Contains(t, d.log.String(), "by=127.0.0.1")
}

func TestWhatIsRefused(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct {
		method, path string
		change       func(*http.Request)
		code         int
		says         string
	}{
		"a change by GET":          {http.MethodGet, "/drain?member=be1", nil, 405, "use POST"},
		"an unknown member":        {http.MethodPost, "/drain?member=be9", nil, 400, "be9"},
		"no member":                {http.MethodPost, "/drain", nil, 400, "member is missing"},
		"an unknown parameter":     {http.MethodGet, "/status?verbose=1", nil, 400, "verbose"},
		"an unknown call":          {http.MethodGet, "/nothing", nil, 404, "/nothing"},
		"a table that is none":     {http.MethodGet, "/flows?table=x", nil, 400, "0 to 254"},
		"a frame that is none":     {http.MethodGet, "/trace?in_port=1&frame=zz", nil, 400, "frame"},
		"a port that is none":      {http.MethodGet, "/trace?in_port=99&frame=00", nil, 400, "port 99"},
		"a page of another origin": {http.MethodPost, "/drain?member=be1", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403, "evil.example"},
		"a name that points here":  {http.MethodGet, "/status", func(r *http.Request) { r.Host = "evil.example" }, 403, "evil.example"},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := d.call(c.method, c.path, c.change)
			require.Equal(t, c.code, code)
			var fault map[string]string
			require.NoError(t, json.Unmarshal([]byte(body), &fault))
			require.Contains(t, fault["error"], c.says)
		})
	}
	require.NotContains(t, d.get("/status.txt"), "drained")
}

func TestLookingInside(t *testing.T) {
	d := newDesk(t)
	require.Eventually(t, func() bool { return strings.Contains(d.get("/flows?table=11"), "set_field:0x1->reg2") }, patience, tick)
	require.Contains(t, d.get("/flows?table=12"), `"name": "member"`)
	require.Contains(t, d.get("/ports"), `"pub0"`)
	require.JSONEq(t, "[]", strings.TrimSpace(strings.ReplaceAll(d.get("/conns"), "null", "[]")))
	const arp = "ffffffffffff020000000909080600010800060400010200000009090a000001000000000000c0a80515"
	require.Contains(t, d.get("/trace?in_port=1&frame="+arp), "IN_PORT")
}

func TestMetricsHaveAllNames(t *testing.T) {
	d := newDesk(t)
	var text string
	require.Eventually(t, func() bool {
		text = d.get("/metrics")
		return strings.Contains(text, `hpnn_member_slots{address="10.20.0.2:8080",member="be1",pool="web"} 256`)
	}, patience, tick)
	for _, name := range []string{
		"hpnn_member_up", "hpnn_member_enabled", "hpnn_member_probes_total", "hpnn_member_probe_failures_total",
		"hpnn_member_packets_total", "hpnn_member_bytes_total", "hpnn_member_connections",
		"hpnn_pool_live_members{pool=\"web\"} 4", "hpnn_pool_layout_info", "hpnn_pool_moved_slots", "hpnn_pool_foreign_slots",
		"hpnn_pool_dropped_packets_total", "hpnn_bundle_duration_seconds_count", "hpnn_bundle_flows_count", "hpnn_repairs_total",
		"hpnn_commit_failures_total", "hpnn_switch_in_sync 1", "hpnn_build_info", "go_goroutines",
	} {
		require.Contains(t, text, name)
	}
}
