package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpnn/datapath/openflow"
)

func TestFilesReadBack(t *testing.T) {
	for seed := range uint64(200) {
		c := Generate(seed, nil)
		c.Note = "A case.\nWith prose.\n"
		r, err := Simulate(c)
		require.NoError(t, err)
		r.Aborts, r.LeftBehind = 0, 0 // not written
		r.Refused = append(r.Refused, 7)
		text := File{c, r}.String()
		back, err := ParseFile(text)
		require.NoError(t, err, text)
		require.Equal(t, text, back.String())
		require.Empty(t, Compare(r, back.Record))
		again, err := Simulate(back.Case)
		require.NoError(t, err)
		again.Refused = append(again.Refused, 7)
		require.Empty(t, Compare(r, again), "what was read behaves as what was written")
	}
}

func TestParseFileNamesTheFault(t *testing.T) {
	for text, fault := range map[string]string{
		"-- nonsense --\n":                           `line 1: section "nonsense" is unknown`,
		"-- program --\nnonsense\n":                  "line 2: ",
		"-- events --\nwait 3s\n":                    `line 2: event "wait" is unknown: write frame, advance or commit`,
		"-- events --\nadvance 1500ms\n":             "line 2: [\"1500ms\"] is not a time: write seconds, such as 3s",
		"-- events --\nframe 9 00\n":                 `line 2: no port "9"`,
		"-- events --\nframe 1 0\n":                  "line 2: encoding/hex: odd length hex string",
		"-- events --\nframe 1\n":                    "line 2: 1 words instead of a port and the frame in hex",
		"-- events --\n  flow add actions=drop\n":    "line 2: a change that belongs to no commit",
		"prose\n-- events --\ncommit\n  flow mend\n": "line 4: ",
		"-- outputs --\n1 zz\n":                      "line 2: encoding/hex: invalid byte: U+007A 'z'",
		"-- refused --\nx\n":                         "line 2: strconv.Atoi: parsing \"x\": invalid syntax",
	} {
		_, err := ParseFile(text)
		require.ErrorContains(t, err, "read case: "+fault)
	}
}

func TestCompareTellsTheFirstDifference(t *testing.T) {
	frame := func(last byte) []byte { return append(make([]byte, 14), last) }
	want := Record{
		Outputs:     map[openflow.PortNo][][]byte{2: {frame(1), frame(2)}},
		Flows:       []string{"a", "b"},
		Connections: []string{"c"},
	}
	for difference, got := range map[string]Record{
		"":                                  want,
		"refused bundles: want [], got [3]": {Refused: []int{3}, Outputs: want.Outputs, Flows: want.Flows, Connections: want.Connections},
		"port 2, frame 1 is missing":        {Outputs: map[openflow.PortNo][][]byte{2: {frame(1)}}},
		"port 1, frame 0 is too much":       {Outputs: map[openflow.PortNo][][]byte{1: {frame(1)}}},
		"port 2, frame 0 (00:00:00:00:00:00 > 00:00:00:00:00:00 802.3 len 1): payload[0:1] 01 != 03": {Outputs: map[openflow.PortNo][][]byte{2: {frame(3), frame(2)}}},
		"flows: \n  want b\n  got  x": {Outputs: want.Outputs, Flows: []string{"a", "x"}, Connections: want.Connections},
		"flows: want 2 lines, got 3":  {Outputs: want.Outputs, Flows: []string{"a", "b", "b"}, Connections: want.Connections},
		"connections: \n  want c":     {Outputs: want.Outputs, Flows: want.Flows},
	} {
		if difference == "" {
			require.Empty(t, Compare(want, got))
		} else {
			require.Contains(t, Compare(want, got), difference)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(File{Case: Generate(seed, nil)}.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseFile(text)
		if err != nil {
			return
		}
		back, err := ParseFile(file.String())
		require.NoError(t, err)
		require.Equal(t, file.String(), back.String())
	})
}
