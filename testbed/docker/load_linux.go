package docker

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
)

// answer is what a backend says of a request.
type answer struct{ backend, client, port, served string }

var answerLine = regexp.MustCompile(`^backend=(\S+)\s+time=.* client=([0-9.]+):(\d+)\s+served=(\S+)\s+req=\d+\n$`)

func readAnswer(body string) (answer, error) {
	m := answerLine.FindStringSubmatch(body)
	if m == nil {
		return answer{}, fmt.Errorf("this is no answer of a backend: %q", body)
	}
	return answer{m[1], m[2], m[3], m[4]}, nil
}

// load is what became of many requests.
type load struct {
	answers []answer
	failed  []error
}

func (l load) counts() map[string]int {
	counts := map[string]int{}
	for _, a := range l.answers {
		counts[a.backend]++
	}
	return counts
}

func (l load) text() string {
	s := fmt.Sprintf("%d answered, %d failed: %s", len(l.answers), len(l.failed), shares(l.counts()))
	if len(l.failed) > 0 {
		s += ": " + l.failed[0].Error()
	}
	return s
}

func get(c *http.Client, url string) (answer, error) {
	reply, err := c.Get(url)
	if err != nil {
		return answer{}, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return answer{}, err
	}
	return readAnswer(string(body))
}

// ask sends n requests, some at a time.
func (s *space) ask(url string, n int) load {
	return s.askUntil(url, func(sent int) bool { return sent >= n })
}

// askUntil sends requests until it is enough.
func (s *space) askUntil(url string, enough func(sent int) bool) (l load) {
	const workers = 4
	client := s.client(patience)
	var mu sync.Mutex
	var all sync.WaitGroup
	sent := 0
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if enough(sent) {
			return false
		}
		sent++
		return true
	}
	for range workers {
		all.Go(func() {
			for more() {
				a, err := get(client, url)
				mu.Lock()
				if err != nil {
					l.failed = append(l.failed, err)
				} else {
					l.answers = append(l.answers, a)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return l
}
