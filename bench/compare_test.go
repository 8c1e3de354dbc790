package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorseRatiosFail(t *testing.T) {
	row := func(rate, cost float64) []ratio {
		return []ratio{{Row: "rate", Value: rate}, {Row: "cost", Value: cost, LowerIsBetter: true}}
	}
	for _, c := range []struct {
		name  string
		pairs [][2][]ratio // of each run: the results of the old program and those of the new one
		worse []string     // rows that the error must name
	}{
		{"equal", [][2][]ratio{{row(1, 1), row(1, 1)}}, nil},
		{"within the limit", [][2][]ratio{{row(1, 1), row(0.91, 1.09)}}, nil},
		{"better", [][2][]ratio{{row(1, 1), row(2, 0.5)}}, nil},
		{"a lower rate", [][2][]ratio{{row(1, 1), row(0.89, 1)}}, []string{"rate"}},
		{"a higher cost", [][2][]ratio{{row(1, 1), row(1, 1.11)}}, []string{"cost"}},
		// The machine was slower in the second pair, for both programs, so the quotient of their results is the same.
		{"another speed of the machine", [][2][]ratio{{row(1, 1), row(1, 1)}, {row(0.5, 2), row(0.5, 2)}, {row(1, 1), row(1, 1)}}, nil},
		{"one run of three", [][2][]ratio{{row(1, 1), row(0.5, 1)}, {row(1, 1), row(1, 1)}, {row(1, 1), row(1, 1)}}, nil},
		{"two runs of three", [][2][]ratio{{row(1, 1), row(0.5, 1)}, {row(1, 1), row(0.5, 1)}, {row(1, 1), row(1, 1)}}, []string{"rate"}},
		{"a row that is gone", [][2][]ratio{{row(1, 1), row(1, 1)[:1]}}, []string{"cost: not measured"}},
	} {
		err := compareRatios(io.Discard, c.pairs)
		if (err != nil) != (len(c.worse) > 0) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, name := range c.worse {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v does not name %s", c.name, err, name)
			}
		}
	}
}

func TestRatiosAreReadAsWritten(t *testing.T) {
	var r ratios
	r.add(ratio{Row: "home", Value: 0.75})
	r.add(ratio{Row: "home, CPU", Value: 1.5, LowerIsBetter: true})
	file := filepath.Join(t.TempDir(), "bench.json")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	rows, err := readRatios(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0] != r.all[0] || rows[1] != r.all[1] {
		t.Errorf("got %v", rows)
	}
}
