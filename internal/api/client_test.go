package api_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/internal/api"
	"hpnn/internal/node"
)

func TestClientCallsADaemon(t *testing.T) {
	d := newDesk(t)
	c := api.NewClient(strings.TrimPrefix(d.url, "http://"))
	var s node.Status
	require.NoError(t, c.Get(t.Context(), "/status", nil, &s))
	require.Equal(t, "hpnn-lb", s.Node)
	var text string
	require.NoError(t, c.Get(t.Context(), "/status.txt", nil, &text))
	require.Contains(t, text, "pool web")
	var answer map[string]any
	require.NoError(t, c.Post(t.Context(), "/drain", url.Values{"member": {"be1"}}, &answer))
	require.ErrorContains(t, c.Post(t.Context(), "/drain", url.Values{"member": {"be9"}}, &answer), "be9")
}

func TestClientSaysThatNobodyAnswers(t *testing.T) {
	require.ErrorContains(t, api.NewClient("127.0.0.1:1").Get(t.Context(), "/status", nil, new(string)), "start hcd")
	require.ErrorContains(t, api.NewClient(t.TempDir()+"/none.sock").Get(t.Context(), "/status", nil, new(string)), "start hcd")
}
