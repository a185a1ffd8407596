//go:build linux

package realtime

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// webTimeout bounds a call to a machine's own web server.
const webTimeout = 5 * time.Second

// callWeb calls a machine's web server from the machine itself, where it listens to orders.
func callWeb(m Machine, method, path string) (string, error) {
	if m.Web() == 0 {
		return "", fmt.Errorf("find web server of %s: it has none", m.About().Name)
	}
	client := http.Client{Timeout: webTimeout, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			err = m.Enter(func() (err error) {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
				return err
			})
			return conn, err
		}}}
	request, err := http.NewRequest(method, fmt.Sprintf("http://%v:%d%s", m.About().Address, m.Web(), path), http.NoBody)
	if err != nil {
		return "", err
	}
	reply, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("call web server of %s: %w", m.About().Name, err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("call web server of %s: %s: %s", m.About().Name, reply.Status, body)
	}
	return string(body), err
}

func tellWeb(m Machine, path string) error {
	_, err := callWeb(m, http.MethodPost, path)
	return err
}

// served asks a machine's web server how many requests for a path have reached it.
func served(m Machine, path string) (int, error) {
	text, err := callWeb(m, http.MethodGet, "/served?path="+url.QueryEscape(path))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(text))
}
