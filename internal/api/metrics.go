package api

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hpnn/internal/control"
	"hpnn/internal/health"
	"hpnn/internal/node"
)

// Metrics counts what happens in a node and asks it for the rest when it is scraped.
type Metrics struct {
	registry *prometheus.Registry
	bundle   prometheus.Histogram
	size     prometheus.Histogram
	repairs  prometheus.Counter
	failures prometheus.Counter
	latency  *prometheus.HistogramVec
}

var _ node.Observer = (*Metrics)(nil)

// NewMetrics makes the metrics of one node.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		bundle: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hpnn_bundle_duration_seconds", Help: "Time from the decision to the commit of a bundle, both included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 12),
		}),
		size: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hpnn_bundle_flows", Help: "Flow modifications in a committed bundle.", Buckets: prometheus.ExponentialBuckets(1, 4, 9),
		}),
		repairs:  prometheus.NewCounter(prometheus.CounterOpts{Name: "hpnn_repairs_total", Help: "Times the switch had lost or changed flows."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "hpnn_commit_failures_total", Help: "Steps of the control loop that failed."}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hpnn_probe_duration_seconds", Help: "Time a health probe took, by how it ended.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 12),
		}, []string{"pool", "member", "outcome"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hpnn_build_info", Help: "Always 1; the labels tell the build.", ConstLabels: prometheus.Labels{"version": version, "go": goVersion()},
	})
	build.Set(1)
	m.registry.MustRegister(m.bundle, m.size, m.repairs, m.failures, m.latency, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}

// Stepped implements node.Observer.
func (m *Metrics) Stepped(o control.Outcome, took time.Duration) {
	switch {
	case o.Err != nil:
		m.failures.Inc()
	case len(o.Bundle) > 0:
		m.bundle.Observe(took.Seconds())
		m.size.Observe(float64(len(o.Bundle)))
	}
	if o.Repaired() {
		m.repairs.Inc()
	}
}

// Probed implements node.Observer.
func (m *Metrics) Probed(e health.Event) {
	m.latency.WithLabelValues(e.ID.Pool, e.Name, e.Result.Outcome.String()).Observe(e.Result.Latency.Seconds())
}

func (m *Metrics) attach(n *node.Node) { m.registry.MustRegister(&scrape{n}) }

func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// scrape asks the node when Prometheus asks us.
type scrape struct{ node *node.Node }

var (
	memberLabels = []string{"pool", "member", "address"}
	poolLabels   = []string{"pool"}

	memberUp       = desc("hpnn_member_up", "1 if the monitor says the member is up.", memberLabels...)
	memberEnabled  = desc("hpnn_member_enabled", "1 if the operator gives the member new connections, 0 if it is drained.", memberLabels...)
	memberSlots    = desc("hpnn_member_slots", "Slots the member owns.", memberLabels...)
	memberProbes   = desc("hpnn_member_probes_total", "Probes that ended.", memberLabels...)
	memberFailures = desc("hpnn_member_probe_failures_total", "Probes that failed.", memberLabels...)
	memberPackets  = desc("hpnn_member_packets_total", "Packets of balanced connections sent to the member.", memberLabels...)
	memberBytes    = desc("hpnn_member_bytes_total", "Bytes of these packets.", memberLabels...)
	memberConns    = desc("hpnn_member_connections", "Tracked connections that the member serves.", memberLabels...)
	poolLive       = desc("hpnn_pool_live_members", "Members that own slots.", poolLabels...)
	poolDigest     = desc("hpnn_pool_layout_info", "Always 1; the label is the digest of the slot table.", "pool", "digest")
	poolChanged    = desc("hpnn_pool_layout_changed_timestamp_seconds", "When the slots last moved.", poolLabels...)
	poolMoved      = desc("hpnn_pool_moved_slots", "Slots that moved at the last change.", poolLabels...)
	poolForeign    = desc("hpnn_pool_foreign_slots", "Of these, those that need not have moved.", poolLabels...)
	poolDropped    = desc("hpnn_pool_dropped_packets_total", "Packets dropped because no member was live.", poolLabels...)
	inSync         = desc("hpnn_switch_in_sync", "1 if the switch held what it should at the last look.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (s *scrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		memberUp, memberEnabled, memberSlots, memberProbes, memberFailures, memberPackets, memberBytes, memberConns,
		poolLive, poolDigest, poolChanged, poolMoved, poolForeign, poolDropped, inSync,
	} {
		ch <- d
	}
}

// scrapeTimeout bounds what a scrape may ask of the switch.
const scrapeTimeout = 5 * time.Second

// Collect implements prometheus.Collector.
func (s *scrape) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	status, err := s.node.Status(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(inSync, err)
		return
	}
	gauge(ch, inSync, truth(status.Control.InSync))
	for _, p := range status.Pools {
		collectPool(ch, p)
	}
	traffic, err := s.node.Traffic(ctx)
	if err != nil {
		return // the switch does not answer: no figures are better than zeros
	}
	for _, p := range status.Pools {
		collectTraffic(ch, p, traffic)
	}
}

func collectTraffic(ch chan<- prometheus.Metric, p node.PoolStatus, t node.Traffic) {
	counter(ch, poolDropped, float64(t.Dropped[p.Name]), p.Name)
	for _, m := range p.Members {
		labels, member := []string{p.Name, m.Name, m.Key}, t.Member(p.Name, m.Name)
		counter(ch, memberPackets, float64(member.Packets), labels...)
		counter(ch, memberBytes, float64(member.Bytes), labels...)
		gauge(ch, memberConns, float64(member.Connections), labels...)
	}
}

func collectPool(ch chan<- prometheus.Metric, p node.PoolStatus) {
	gauge(ch, poolLive, float64(p.Live), p.Name)
	gauge(ch, poolDigest, 1, p.Name, p.Digest)
	gauge(ch, poolMoved, float64(p.Moved), p.Name)
	gauge(ch, poolForeign, float64(p.Foreign), p.Name)
	if !p.Changed.IsZero() {
		gauge(ch, poolChanged, float64(p.Changed.UnixNano())/1e9, p.Name)
	}
	for _, m := range p.Members {
		labels := []string{p.Name, m.Name, m.Key}
		gauge(ch, memberUp, truth(m.State == "up"), labels...)
		gauge(ch, memberEnabled, truth(m.Admin == "enabled"), labels...)
		gauge(ch, memberSlots, float64(m.Slots), labels...)
		counter(ch, memberProbes, float64(m.Probes), labels...)
		counter(ch, memberFailures, float64(m.Failures), labels...)
	}
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
