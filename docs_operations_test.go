package hpnn_test

import (
	"cmp"
	"go/ast"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"hpnn/internal/api"
	"hpnn/internal/health"
	"hpnn/internal/node"
	"hpnn/model"
	"hpnn/simbackend"
	"hpnn/testbed"
)

const alertsFile = "docs/alerts.yaml"

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// A metric is one of hcd's, as a scrape shows it.
type metric struct{ name, kind, help, labels string }

// scraped asks a node on a simulated switch for its metrics. Those of Go and of the process are left out.
func scraped(t *testing.T) (all []metric) {
	topology, err := model.Load("examples/hpnn.yaml")
	require.NoError(t, err)
	topology.Pools[0].Health.Type = model.MonitorNone // nobody is there to be probed
	sw, err := simbackend.New(simbackend.Config{Ports: testbed.Ports(topology)})
	require.NoError(t, err)
	metrics := api.NewMetrics("test")
	n, err := node.New(t.Context(), node.Config{Topology: topology, Bridge: sw, Observer: metrics})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- n.Run(t.Context()) }()
	metrics.Probed(health.Event{ID: health.ID{Pool: "web"}, Name: "be1", Result: health.Result{Outcome: health.Passed}})
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/metrics", nil)
	api.New(n, metrics, slog.New(slog.DiscardHandler)).ServeHTTP(answer, request)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body.String())
	require.NoError(t, sw.Close())
	<-done
	return parseMetrics(answer.Body.String())
}

var seriesLine = regexp.MustCompile(`^(hpnn_[a-z_]+)(?:\{(.*)\})? `)

func parseMetrics(text string) (all []metric) {
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		last := len(all) - 1
		switch {
		case strings.HasPrefix(line, "# HELP hpnn_"):
			all = append(all, metric{name: words[2], help: words[3]})
		case strings.HasPrefix(line, "# TYPE hpnn_"):
			all[last].kind = words[3]
		case seriesLine.MatchString(line) && all[last].labels == "":
			for label := range strings.SplitSeq(seriesLine.FindStringSubmatch(line)[2], ",") {
				if name, _, _ := strings.Cut(label, "="); name != "" && name != "le" {
					all[last].labels = strings.TrimPrefix(all[last].labels+", "+name, ", ")
				}
			}
		}
	}
	return all
}

func metricTable(t *testing.T, _ []string, old string) string {
	g := grid{head: []string{"Metric", "Type", "Labels", "Meaning", "What to know"}, keys: 1}
	for _, m := range scraped(t) {
		g.rows = append(g.rows, []string{"`" + m.name + "`", m.kind, cmp.Or(m.labels, "-"), m.help})
	}
	return g.text(old)
}

// A logLine is a message that the daemon logs.
type logLine struct{ level, message, with string }

// logLines finds what hcd logs, in the order of the files.
func logLines(t *testing.T) (all []logLine) {
	for _, s := range sources(t) {
		if s.isTest() || !slices.Contains([]string{"cmd/hcd", "internal/node", "internal/api"}, s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if level, ok := logLevel(call); ok {
					all = append(all, logLine{level, literal(call.Args[0]), keysOf(call.Args[1:])})
				}
			}
			return true
		})
	}
	return all
}

// logLevel is the level of a call of a slog.Logger that is called log, as all are.
func logLevel(call *ast.CallExpr) (string, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method.Sel.Name) {
		return "", false
	}
	switch x := method.X.(type) {
	case *ast.Ident:
		return strings.ToLower(method.Sel.Name), x.Name == "log"
	case *ast.SelectorExpr:
		return strings.ToLower(method.Sel.Name), x.Sel.Name == "log"
	}
	return "", false
}

// literal is a string as the code has it; "..." stands for what is computed.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "..."
}

func keysOf(args []ast.Expr) string {
	var keys []string
	for i := 0; i < len(args); i += 2 {
		keys = append(keys, literal(args[i]))
	}
	return cmp.Or(strings.Join(keys, ", "), "-")
}

func logTable(t *testing.T, _ []string, old string) string {
	g := grid{head: []string{"Level", "Message", "With", "What it means"}, keys: 2}
	lines := logLines(t)
	rank := []string{"error", "warn", "info", "debug"}
	slices.SortStableFunc(lines, func(a, b logLine) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.level), slices.Index(rank, b.level)), cmp.Compare(a.message, b.message))
	})
	for _, l := range slices.Compact(lines) {
		g.rows = append(g.rows, []string{l.level, l.message, l.with})
	}
	return g.text(old)
}

// An alert is a rule of docs/alerts.yaml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(readFile(t, alertsFile)), &file, yaml.Strict()))
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

var templated = regexp.MustCompile(`\{\{ *\$(?:labels\.)?(\w+) *\}\}`)

func alertTable(t *testing.T, _ []string, old string) string {
	g := grid{head: []string{"Alarm", "Severity", "After", "What it says", "What to do"}, keys: 1}
	for _, a := range alerts(t) {
		summary := templated.ReplaceAllString(a.Annotations["summary"], "*$1*")
		g.rows = append(g.rows, []string{a.Alert, a.Labels["severity"], cmp.Or(a.For, "at once"), summary})
	}
	return g.text(old)
}

// TestAlertsSpeakOfMetricsThatExist holds the rules to the metrics of a running node.
func TestAlertsSpeakOfMetricsThatExist(t *testing.T) {
	known := map[string]metric{}
	for _, m := range scraped(t) {
		known[m.name] = m
	}
	name := regexp.MustCompile(`hpnn_[a-z_]+`)
	suffix := regexp.MustCompile(`_(bucket|count|sum)$`)
	for _, a := range alerts(t) {
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Alert)
		if a.For != "" && a.For != "1d" {
			_, err := time.ParseDuration(a.For)
			require.NoError(t, err, a.Alert)
		}
		require.Contains(t, a.Expr, cmp.Or(name.FindString(a.Expr), "up{"), a.Alert)
		for _, used := range name.FindAllString(a.Expr, -1) {
			if base := suffix.ReplaceAllString(used, ""); known[base].kind == "histogram" {
				used = base
			}
			require.Contains(t, known, used, a.Alert)
		}
	}
}

// TestMetricsOfTheCodeAreScraped finds metrics that the code names but a scrape does not show.
func TestMetricsOfTheCodeAreScraped(t *testing.T) {
	shown := map[string]bool{}
	for _, m := range scraped(t) {
		require.NotEmpty(t, m.kind, m.name)
		shown[m.name] = true
	}
	for _, s := range sources(t) {
		if s.dir != "internal/api" || s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(l.Value, `"hpnn_`) {
				require.True(t, shown[strings.Trim(l.Value, `"`)], "%s is not among the metrics of a node", l.Value)
			}
			return true
		})
	}
}

// TestAlertsFire has Prometheus' own tool check the rules and try them on made-up series.
func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{{"check", "rules", alertsFile}, {"test", "rules", "docs/testdata/alerts.yaml"}} {
		out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}
