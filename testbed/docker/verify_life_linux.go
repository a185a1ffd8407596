package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hpnn/model"
)

// slack is what may pass between the verdict and the switch, and for the last probe to be waited for.
const slack = time.Second

// public asks by a public listener, or by any if there is none.
func (v *verifier) public() ask {
	if a, ok := v.listener(model.Public); ok {
		return a
	}
	return v.asks()[0]
}

// digest checks that the layout comes back to what it was when all was well.
func (v *verifier) digest(ctx context.Context, when string) {
	want := v.begun.Pools[0].Digest
	st, err := v.await(ctx, func(st status) string {
		if st.Pools[0].Digest != want {
			return "the digest is " + short(st.Pools[0].Digest)
		}
		return complete(st)
	})
	if v.must(err, "digest "+when) {
		v.check(st.Pools[0].Digest == want, "digest "+when, short(st.Pools[0].Digest), short(want))
	}
}

// afterwards checks that no request fails, and that none is answered by a member that is out, if it is named.
func (v *verifier) afterwards(ctx context.Context, n int, when, out string) {
	missing, want := complete, "none failed"
	if out != "" {
		missing, want = without(out), "none failed, none of "+out
	}
	var l load
	if v.steady(ctx, missing, func() { l = v.ask(v.public(), n) }) {
		v.check(len(l.failed) == 0 && l.counts()[out] == 0, fmt.Sprintf("%d requests %s", n, when), l.text(), want)
	}
}

// drained is what became of the requests around a drain.
type drained struct {
	pool          pool // when the member was out
	during, after load
	ticks         int // of a download from the member that had begun before
	download, err error
}

// drain takes a member out under load, with a download from it that goes on.
func (v *verifier) drain(ctx context.Context) {
	a, name := v.public(), v.pool.Members[0].Name
	var d drained
	if v.steady(ctx, complete, func() { d = v.drained(ctx, a, name) }) && v.must(d.err, "drain "+name) {
		p := d.pool
		v.check(p.Foreign == 0, "slots that moved when "+name+" was drained", fmt.Sprintf("%d of its own, %d of others", p.Moved-p.Foreign, p.Foreign), "0 of others")
		v.check(len(d.during.failed) == 0, "requests during the drain", d.during.text(), "none failed")
		v.check(len(d.after.failed) == 0 && d.after.counts()[name] == 0, fmt.Sprintf("%d requests after it", requests), d.after.text(), "none failed, none of "+name)
		v.check(d.download == nil && d.ticks == slowTicks, "download of "+name+" that was under way", fmt.Sprintf("%d ticks, error: %v", d.ticks, d.download), fmt.Sprintf("%d ticks", slowTicks))
	}
	v.digest(ctx, "after enable")
}

// drained drains a member and enables it again.
func (v *verifier) drained(ctx context.Context, a ask, name string) (d drained) {
	download := v.slow(a, name)
	stop, done := make(chan struct{}), make(chan load)
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
	d.err = v.node.call(ctx, http.MethodPost, "/drain?member="+name, nil)
	if d.err == nil {
		var st status
		if st, d.err = v.await(ctx, gone(name)); d.err == nil {
			d.pool = st.Pools[0]
		}
	}
	d.after = v.ask(a, requests)
	close(stop)
	d.during = <-done
	d.ticks, d.download = download()
	d.err = errors.Join(d.err, v.node.call(ctx, http.MethodPost, "/enable?member="+name, nil))
	return d
}

const slowTicks = 6

// slow begins downloads until one is served by the member; what it returns waits for the end and counts the lines.
func (v *verifier) slow(a ask, member string) func() (int, error) {
	client := v.spaces[a.from.Name].client(slowTicks*time.Second + patience)
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

// promised is the time in which a member that is silent must be out of the pool, in the switch too: its probes fail, the
// last of them by its timeout.
func promised(h model.HealthMonitor) time.Duration { return time.Duration(h.Fall)*h.Interval + slack }

// freeze stops a member as docker pause does: its kernel still accepts connections, nobody answers.
func (v *verifier) freeze(ctx context.Context) {
	m := v.backends()[0]
	begun := time.Now() // before it: the time that docker takes counts
	if _, err := engine(ctx, "pause", m.Container); !v.must(err, "docker pause") {
		return
	}
	if _, err := v.await(ctx, gone(m.Name)); v.must(err, m.Name+" is out") {
		v.took(time.Since(begun), promised(v.pool.Health), m.Name+" is out of the pool after")
	}
	v.afterwards(ctx, requests, "afterwards", m.Name)
	begun = time.Now()
	if _, err := engine(ctx, "unpause", m.Container); !v.must(err, "docker unpause") {
		return
	}
	if _, err := v.await(ctx, complete); v.must(err, m.Name+" is back") {
		v.took(time.Since(begun), time.Duration(v.pool.Health.Rise)*v.pool.Health.Interval+slack, m.Name+" is back after")
	}
	v.digest(ctx, "after it came back")
}

// dropped is what the first pool's table counted of frames without a live member.
func (v *verifier) dropped(ctx context.Context) (int, error) {
	var traffic []struct {
		Dropped int `json:"dropped"`
	}
	if err := v.node.call(ctx, http.MethodGet, "/traffic", &traffic); err != nil {
		return 0, err
	}
	if len(traffic) == 0 {
		return 0, errors.New("ask hcd: it knows of no pool's traffic")
	}
	return traffic[0].Dropped, nil
}

// freezeAll leaves no member: what the pool's policy says then is counted.
func (v *verifier) freezeAll(ctx context.Context) {
	var names []string
	for _, m := range v.backends() {
		names = append(names, m.Container)
	}
	begun := time.Now()
	if _, err := engine(ctx, append([]string{"pause"}, names...)...); !v.must(err, "docker pause") {
		return
	}
	_, err := v.await(ctx, func(st status) string {
		if st.Pools[0].Live > 0 || !st.Control.InSync {
			return fmt.Sprintf("%d members are live", st.Pools[0].Live)
		}
		return ""
	})
	if v.must(err, "no member is live") {
		v.check(true, "no member is live after", seconds(time.Since(begun)), "")
		v.unanswered(ctx)
	}
	begun = time.Now()
	if _, err := engine(ctx, append([]string{"unpause"}, names...)...); v.must(err, "docker unpause") {
		_, err = v.await(ctx, complete)
		if v.must(err, "all are back") {
			v.check(true, "all are back after", seconds(time.Since(begun)), "")
		}
		v.digest(ctx, "after they came back")
	}
}

// unanswered asks once, and waits until the table has counted it.
func (v *verifier) unanswered(ctx context.Context) {
	before, err := v.dropped(ctx)
	if !v.must(err, "drops") {
		return
	}
	a := v.public()
	_, failure := get(v.spaces[a.from.Name].client(1500*time.Millisecond), a.url)
	after := before
	for limit := time.Now().Add(patience); err == nil && after == before && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		after, err = v.dropped(ctx)
	}
	if v.must(err, "drops") {
		v.check(failure != nil && after > before, "a request", fmt.Sprintf("%v; dropped %d before, %d after", failure, before, after), "a timeout, counted")
	}
}
