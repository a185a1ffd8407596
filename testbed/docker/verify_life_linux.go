package docker

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hpnn/model"
)

// slack is what it may take to commit the slots after a verdict.
const slack = time.Second

// public asks by a public listener, or by any if there is none.
func (v *verifier) public() ask {
	if a, ok := v.listener(model.Public); ok {
		return a
	}
	return v.asks()[0]
}

// digest checks that the layout is what it was when all was well.
func (v *verifier) digest(ctx context.Context, when string) {
	st, err := v.node.status(ctx)
	if v.must(err, "ask hcd") {
		v.check(st.Pools[0].Digest == v.begun.Pools[0].Digest, "digest "+when, short(st.Pools[0].Digest), short(v.begun.Pools[0].Digest))
	}
}

func without(name string) func(status) string {
	return func(st status) string {
		if m := st.Pools[0].Members[st.Pools[0].member(name)]; m.InPool || m.Slots > 0 {
			return name + " still has slots"
		}
		return ""
	}
}

// drain takes a member out under load, with a download from it that goes on.
func (v *verifier) drain(ctx context.Context) {
	a, name := v.public(), v.pool.Members[0].Name
	download := v.slow(a, name)
	stop := make(chan struct{})
	done := make(chan load)
	go func() {
		done <- v.spaces[a.from.Name].askUntil(a.url, func(int) bool {
			select {
			case <-stop:
				return true
			default:
				return false
			}
		})
	}()
	err := v.node.call(ctx, http.MethodPost, "/drain?member="+name, nil)
	if err == nil {
		err = v.await(ctx, 5*time.Second, without(name))
	}
	drained, statusErr := v.node.status(ctx)
	after := v.spaces[a.from.Name].ask(a.url, requests)
	close(stop)
	during := <-done
	if v.must(err, "drain "+name) && v.must(statusErr, "ask hcd") {
		p := drained.Pools[0]
		v.check(p.Foreign == 0, "slots that moved when "+name+" was drained", fmt.Sprintf("%d of its own, %d of others", p.Moved-p.Foreign, p.Foreign), "0 of others")
	}
	v.check(len(during.failed) == 0, "requests during the drain", during.text(), "none failed")
	v.check(len(after.failed) == 0 && after.counts()[name] == 0, fmt.Sprintf("%d requests after it", requests), after.text(), "none failed, none of "+name)
	ticks, err := download()
	v.check(err == nil && ticks == slowTicks, "download of "+name+" that was under way", fmt.Sprintf("%d ticks, error: %v", ticks, err), fmt.Sprintf("%d ticks", slowTicks))
	if v.must(v.node.call(ctx, http.MethodPost, "/enable?member="+name, nil), "enable "+name) {
		if err := v.awaitAll(ctx, 10*time.Second); v.must(err, "enable "+name) {
			v.digest(ctx, "after enable")
		}
	}
}

const slowTicks = 6

// slow begins downloads until one is served by the member; what it returns waits for the end and counts the lines.
func (v *verifier) slow(a ask, member string) func() (int, error) {
	client := v.spaces[a.from.Name].client(60 * time.Second)
	url := fmt.Sprintf("%sslow?seconds=%d", a.url, slowTicks)
	for range 100 {
		reply, err := client.Get(url)
		if err != nil {
			return func() (int, error) { return 0, err }
		}
		first := make([]byte, 128)
		n, _ := reply.Body.Read(first)
		if !strings.Contains(string(first[:n]), "backend="+member) {
			_ = reply.Body.Close()
			continue
		}
		return func() (int, error) {
			defer reply.Body.Close()
			rest, err := io.ReadAll(reply.Body)
			return strings.Count(string(first[:n])+string(rest), "tick "), err
		}
	}
	return func() (int, error) { return 0, fmt.Errorf("no download was served by %s", member) }
}

// freeze stops a member as docker pause does: its kernel still accepts connections, nobody answers.
func (v *verifier) freeze(ctx context.Context) {
	name := v.pool.Members[0].Name
	m, ok := v.machine(name)
	if !ok {
		return
	}
	h := v.pool.Health
	if _, err := engine(ctx, "pause", m.Container); !v.must(err, "docker pause") {
		return
	}
	begun := time.Now()
	err := v.await(ctx, 30*time.Second, without(name))
	took, limit := time.Since(begun), time.Duration(h.Fall)*h.Interval+h.Timeout
	st, statusErr := v.node.status(ctx)
	if v.must(statusErr, "ask hcd") {
		verdict := st.Pools[0].Members[st.Pools[0].member(name)].Since.Sub(begun)
		v.check(err == nil && verdict <= limit, name+" is found dead after", seconds(verdict), "≤ fall × interval + timeout = "+seconds(limit))
	}
	v.check(err == nil && took <= limit+slack, name+" has no slots after", seconds(took), "≤ "+seconds(limit+slack))
	a := v.public()
	l := v.spaces[a.from.Name].ask(a.url, requests)
	v.check(len(l.failed) == 0 && l.counts()[name] == 0, fmt.Sprintf("%d requests afterwards", requests), l.text(), "none failed, none of "+name)
	if _, err := engine(ctx, "unpause", m.Container); !v.must(err, "docker unpause") {
		return
	}
	begun = time.Now()
	err = v.awaitAll(ctx, 30*time.Second)
	took, limit = time.Since(begun), time.Duration(h.Rise)*h.Interval+h.Timeout+slack
	v.check(err == nil && took <= limit, name+" is back after", seconds(took), "≤ "+seconds(limit))
	v.digest(ctx, "after it came back")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// dropped is what the first pool's table counted of frames without a live member.
func (v *verifier) dropped(ctx context.Context) (int, error) {
	var traffic []struct {
		Dropped int `json:"dropped"`
	}
	if err := v.node.call(ctx, http.MethodGet, "/traffic", &traffic); err != nil || len(traffic) == 0 {
		return 0, fmt.Errorf("ask hcd for the pool's traffic: %w", err)
	}
	return traffic[0].Dropped, nil
}

// freezeAll leaves no member: what the pool's policy says then is counted.
func (v *verifier) freezeAll(ctx context.Context) {
	var names []string
	for _, m := range v.backends() {
		names = append(names, m.Container)
	}
	if _, err := engine(ctx, append([]string{"pause"}, names...)...); !v.must(err, "docker pause") {
		return
	}
	begun := time.Now()
	err := v.await(ctx, 30*time.Second, func(st status) string {
		if st.Pools[0].Live > 0 {
			return fmt.Sprintf("%d members are live", st.Pools[0].Live)
		}
		return ""
	})
	v.check(err == nil, "no member is live after", seconds(time.Since(begun)), "")
	before, _ := v.dropped(ctx)
	a := v.public()
	_, failure := get(v.spaces[a.from.Name].client(1500*time.Millisecond), a.url)
	after, err := v.dropped(ctx)
	if v.must(err, "drops") {
		v.check(failure != nil && after > before, "a request", fmt.Sprintf("%v; dropped %d before, %d after", failure, before, after), "a timeout, counted")
	}
	if _, err := engine(ctx, append([]string{"unpause"}, names...)...); v.must(err, "docker unpause") {
		begun = time.Now()
		err = v.awaitAll(ctx, 30*time.Second)
		v.check(err == nil, "all are back after", seconds(time.Since(begun)), "")
		v.digest(ctx, "after they came back")
	}
}
