package model

import (
	"encoding"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMACs(t *testing.T) {
	m, err := ParseMAC("02:42:0A:14:00:fd")
	require.NoError(t, err)
	require.Equal(t, MAC{0x02, 0x42, 0x0a, 0x14, 0x00, 0xfd}, m)
	require.Equal(t, "02:42:0a:14:00:fd", m.String())
	for _, text := range []string{"", "02:42:0a:14:00", "02:42:0a:14:00:fd:01", "02-42-0a-14-00-fd", "02:42:0a:14:00:f", "02:42:0a:14:00:fg",
		"02:42:0a:14:00 fd", " 2:42:0a:14:00:fd", "+2:42:0a:14:00:fd"} {
		_, err := ParseMAC(text)
		require.ErrorContains(t, err, "parse MAC", text)
	}
	require.True(t, MAC{}.IsZero())
	require.False(t, m.IsZero())
	require.True(t, MAC{1}.IsMulticast())
	require.True(t, MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}.IsMulticast())
	require.False(t, m.IsMulticast())
}

func TestTextsOfEnums(t *testing.T) {
	for text, value := range map[string]interface {
		encoding.TextMarshaler
		String() string
	}{
		"public": Public, "private": Private, "tuple": Tuple, "source": Source, "symmetric_l4": SymmetricL4,
		"maglev-stable": MaglevStable, "maglev": Maglev, "drop": Drop, "reject": Reject, "last-known": LastKnown,
		"enabled": Enabled, "drained": Drained, "tcp": TCP, "udp": UDP, "http": MonitorHTTP, "https": MonitorHTTPS, "icmp": MonitorICMP,
		"none": MonitorNone, "down": InitialDown, "up": InitialUp, "rise": InitialRise,
	} {
		marshalled, err := value.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, string(marshalled))
		require.Equal(t, text, value.String())
	}
	require.Equal(t, "hash(7)", Hash(7).String())
	_, err := SegmentKind(0).MarshalText()
	require.EqualError(t, err, "marshal segment kind: 0 is no segment kind")
	var kind SegmentKind
	require.EqualError(t, kind.UnmarshalText([]byte("")), `parse segment kind "": use public, private`)
	require.Equal(t, 2, MaglevStable.Version())
	require.Equal(t, 1, Maglev.Version())
}

func TestTopologiesSurviveJSON(t *testing.T) {
	want, err := Load("testdata/every-key.yaml")
	require.NoError(t, err)
	want.Pools[1].Health.Reply = "" // JSON strings hold no bytes beyond UTF-8
	data, err := json.Marshal(want)
	require.NoError(t, err)
	require.Contains(t, string(data), `"MAC":"02:00:00:00:00:11"`)
	require.Contains(t, string(data), `"Algorithm":"maglev"`)
	var got Topology
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, want, got)
}

func TestStatusRanges(t *testing.T) {
	require.Equal(t, "204", StatusRange{204, 204}.String())
	require.Equal(t, "200-299", StatusRange{200, 299}.String())
	require.True(t, StatusRange{200, 299}.Contains(200))
	require.True(t, StatusRange{200, 299}.Contains(299))
	require.False(t, StatusRange{200, 299}.Contains(199))
	require.False(t, StatusRange{200, 299}.Contains(300))
}

func TestDurationsLeaveOutUnitsThatAreZero(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2 * time.Second: "2s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", 10 * time.Second: "10s",
		time.Hour + time.Second: "1h0m1s", 1500 * time.Microsecond: "1.5ms", 20 * time.Minute: "20m", 100 * time.Second: "1m40s",
	} {
		require.Equal(t, want, durationText(d))
		back, err := time.ParseDuration(want)
		require.NoError(t, err)
		require.Equal(t, d, back)
	}
}

func TestSuggestions(t *testing.T) {
	known := []string{"name", "segment", "address", "mac", "port", "no_live_member"}
	for word, want := range map[string]string{
		"adress": "address", "Address": "address", "segmnt": "segment", "no-live-member": "no_live_member", "nolivemember": "no_live_member",
		"prot": "port", "macs": "mac", "x": "", "weight": "", "vlan": "",
	} {
		require.Equal(t, want, nearest(word, known), word)
	}
}

func TestQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"web": "web", "10": "'10'", "true": "'true'", "No": "'No'", "null": "'null'", "a b": "'a b'", "it's": "'it''s'", "": "''",
		"1e3": "'1e3'", "a: b": "'a: b'", "a\nb": `"a\nb"`, "/healthz": "/healthz", "/a?b#c": "'/a?b#c'", ".inf": "'.inf'", "~": "'~'",
	} {
		require.Equal(t, want, quoted(text), text)
	}
}
