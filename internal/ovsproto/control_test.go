package ovsproto

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// daemon is a control socket that answers each request as the test says; without an answer it keeps quiet.
func daemon(t *testing.T, answer func(request) string) *Control {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	require.NoError(t, err)
	path := filepath.Join(dir, "ctl")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close(); _ = os.RemoveAll(dir) })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for decoder := json.NewDecoder(conn); ; {
			var r request
			if decoder.Decode(&r) != nil {
				return
			}
			if _, err := conn.Write([]byte(answer(r))); err != nil {
				return
			}
		}
	}()
	c, err := DialControl(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestCallIsAnsweredOrRefused(t *testing.T) {
	c := daemon(t, func(r request) string {
		data, _ := json.Marshal(r.Params)
		result, failure := string(data), ""
		reply := map[string]any{"id": r.ID, "result": result, "error": nil}
		if r.Method == "fail" {
			failure = "not like this\n"
			reply = map[string]any{"id": r.ID, "result": nil, "error": failure}
		}
		text, _ := json.Marshal(reply)
		return string(text)
	})
	text, err := c.Call(t.Context(), "echo", "a", `"b" c`)
	require.NoError(t, err)
	require.Equal(t, `["a","\"b\" c"]`, text)
	text, err = c.Call(t.Context(), "echo")
	require.NoError(t, err)
	require.Equal(t, "[]", text)
	_, err = c.Call(t.Context(), "fail")
	require.EqualError(t, err, "fail: not like this")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	_, err = c.Call(t.Context(), "echo")
	require.NoError(t, err)
}

// A call that was given up leaves its answer behind, even half of it; the next call skips it.
func TestCallAfterOneGivenUp(t *testing.T) {
	conn, server := net.Pipe()
	c := &Control{conn: conn, decoder: json.NewDecoder(conn)}
	defer c.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		decoder := json.NewDecoder(server)
		var r request
		_ = decoder.Decode(&r)
		_, _ = server.Write([]byte(`{"id":1,"result":"la`)) // the caller has read it when this returns
		giveUp()
		_ = decoder.Decode(&r)
		_, _ = server.Write([]byte(`te","error":null}{"id":2,"result":"second","error":null}`))
	}()
	_, err := c.Call(ctx, "first")
	require.ErrorIs(t, err, context.Canceled)
	text, err := c.Call(t.Context(), "second")
	require.NoError(t, err)
	require.Equal(t, "second", text)
}

func TestCallOfADaemonThatIsGone(t *testing.T) {
	_, err := DialControl(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)
	c := daemon(t, func(request) string { return "not JSON" })
	_, err = c.Call(t.Context(), "x")
	require.ErrorContains(t, err, "call x")
}
