package docker

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadPIDs(t *testing.T) {
	all, err := readPIDs("/hpnn-lb 101\n/hpnn-be1 102\n")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"hpnn-lb": 101, "hpnn-be1": 102}, all)

	_, err = readPIDs("/hpnn-lb 101\n/hpnn-be1 0\n/hpnn-be2 0\n")
	require.ErrorContains(t, err, "these containers do not run: hpnn-be1, hpnn-be2: run make up")
	_, err = readPIDs("/hpnn-lb\n")
	require.ErrorContains(t, err, `read docker's answer "/hpnn-lb\n"`)
}

func TestContainersBeginWithTheNode(t *testing.T) {
	all := standOf(example(t)).containers()
	require.Len(t, all, 10)
	require.Equal(t, "hpnn-lb", all[0])
}

func TestReportPrintsWhatWasMeasured(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out}
	r.section("health")
	r.check(true, "members that are up", "4", "4")
	require.NoError(t, (&report{out: &out}).end())
	r.check(false, "digest", "abc", "")
	require.EqualError(t, r.end(), "failed: digest")
	require.Contains(t, out.String(), "ok    members that are up                                        4  (want 4)\n")
	require.Contains(t, out.String(), "FAIL  digest                                                     abc\n")
	require.Contains(t, out.String(), "1 of 2 checks passed\n")
}

func TestReportForgivesLateTimesUnlessStrict(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out}
	r.took(5*time.Second, 7*time.Second, "be1 is out after")
	r.took(8*time.Second, 7*time.Second, "be1 is out after")
	require.NoError(t, r.end())
	require.Contains(t, out.String(), "ok    be1 is out after                                           5.0 s  (want ≤ 7.0 s)\n")
	require.Contains(t, out.String(), "late  be1 is out after                                           8.0 s  (want ≤ 7.0 s)\n")
	require.Contains(t, out.String(), "1 of 2 checks passed\nlate: be1 is out after: is the machine busy?")
	r = &report{out: &out, strict: true}
	r.took(8*time.Second, 7*time.Second, "be1 is out after")
	require.EqualError(t, r.end(), "failed: be1 is out after")
}

func TestSharesAreInOrder(t *testing.T) {
	require.Equal(t, "be1 2, be2 1", shares(map[string]int{"be2": 1, "be1": 2}))
}
