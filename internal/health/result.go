package health

import "time"

// An Outcome is how a probe ended. There are few of them, so that they can label a metric; the words are in the result.
type Outcome uint8

// The outcomes. All but Passed and NotProbed are failures of the member.
const (
	NotProbed   Outcome = iota // the node could not probe, or was told to stop: nothing was learned of the member
	Passed                     // the member answered as it should
	Refused                    // it said that nobody listens: a TCP reset of the SYN, an ICMP port unreachable
	TimedOut                   // the time was up before the probe was through
	Unreachable                // no way to the member: ICMP unreachable, or no answer to ARP
	Broken                     // it broke the connection off, or spoke another protocol
	Unwanted                   // it answered, but not what is expected: another status, another reply
	Failed                     // anything else
)

// String returns one word, or two: passed, refused, timeout, unreachable, broken, unwanted, failed, not probed.
func (o Outcome) String() string {
	return name(o, "outcome", "not probed", "passed", "refused", "timeout", "unreachable", "broken", "unwanted", "failed")
}

// MarshalText returns the text of String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Conclusive reports whether a probe that ended so says anything about the member.
func (o Outcome) Conclusive() bool { return o != NotProbed }

// A Result is what one probe found. The zero Result found nothing.
type Result struct {
	Outcome Outcome
	Detail  string        // why it did not pass, in words for a person: "status 503, want 200-299"; empty if it passed
	Latency time.Duration // from the start of the probe to its end
}

// String returns the outcome, or the words for it.
func (r Result) String() string {
	if r.Detail == "" {
		return r.Outcome.String()
	}
	return r.Detail
}
