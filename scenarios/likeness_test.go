package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func lines(like likeness, all ...string) (made []line) {
	for _, text := range all {
		made = append(made, line{text, like})
	}
	return made
}

func TestWhatIsNotMeasuredIsComparedToTheLetter(t *testing.T) {
	require.True(t, same([]string{"be1(5) be2(5)"}, lines(likeness{}, "be1(5) be2(5)")))
	require.False(t, same([]string{"be1(5) be2(5)"}, lines(likeness{}, "be1(6) be2(4)")), "shares of a number of requests are no measure")
	require.False(t, same([]string{"a"}, lines(likeness{}, "a", "b")))
	require.False(t, same([]string{"a", "b"}, lines(likeness{}, "a")))
}

func TestLoadsAreAlike(t *testing.T) {
	told := []string{"be1(20) be2(20) be3(20)"}
	for text, want := range map[string]bool{
		"be1(25) be2(30) be3(28)":              true,
		"be1(10) be2(10) be3(10)":              true,
		"be1(3) be2(3) be3(3)":                 false, // far too few
		"be1(200) be2(200) be3(200)":           false, // far too many
		"be1(40) be2(40)":                      false, // nobody answered for be3
		"be1(20) be2(20) be3(20) no answer(1)": false,
	} {
		require.Equal(t, want, same(told, lines(likeLoad, text)), text)
	}
}

func TestFramesAreAlike(t *testing.T) {
	told := []string{
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [S] len 0 ttl 64",
		"< TCP 10.0.0.2:80 > 10.0.0.1:40000 [S.] len 0 ttl 64",
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [.] len 0 ttl 64",
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [P.] len 56 ttl 64",
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [F.] len 0 ttl 64",
	}
	heard := []string{
		"> ARP who-has 10.0.0.2 tell 10.0.0.1 (02:00:00:00:00:01)",
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [S] len 0 ttl 64",
		"< TCP 10.0.0.2:80 > 10.0.0.1:40000 [S.] len 0 ttl 64",
		"> TCP 10.0.0.1:40000 > 10.0.0.2:80 [P.] len 97 ttl 64",
	}
	require.True(t, same(told, lines(likeFrames, heard...)))
	heard[1] = "> TCP 10.0.0.1:40000 > 10.0.0.2:80 [S] len 0 ttl 63"
	require.False(t, same(told, lines(likeFrames, heard...)), "the TTL is no measure")
	heard[1] = "> TCP 10.0.0.3:40000 > 10.0.0.2:80 [S] len 0 ttl 64"
	require.False(t, same(told, lines(likeFrames, heard...)), "nor is an address")
}

func TestOtherLikenesses(t *testing.T) {
	conn := "balanced: 10.0.0.1:40000 > 10.0.0.9:80 (10.0.0.2:8080) "
	require.True(t, same([]string{conn + "CLOSING"}, lines(likeConns, conn+"TIME_WAIT")))
	require.False(t, same([]string{conn + "CLOSING"}, lines(likeConns, conn+"ESTABLISHED")))
	require.True(t, same([]string{"6"}, lines(likeCount, "7")))
	require.False(t, same([]string{"6"}, lines(likeCount, "0")))
	step := "running, in step, 1 repairs, "
	require.True(t, same([]string{step + "0 failures"}, lines(likeStatus, step+"4 failures")))
	require.False(t, same([]string{step + "0 failures"}, lines(likeStatus, "running, not in step, 1 repairs, 0 failures")))
}
