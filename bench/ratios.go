package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// This file collects the results of a run and stores them in a file, which compare.go reads.

// ratio is one result of a benchmark: a figure of the program, divided by that of a reference in the same run.
type ratio struct {
	Row   string  `json:"row"` // what was measured; results of two builds are compared by this text
	Value float64 `json:"value"`
	// LowerIsBetter is true for times, for example, and false for requests per second.
	LowerIsBetter bool `json:"lower,omitempty"`
}

// ratios collects results.
type ratios struct {
	mu  sync.Mutex
	all []ratio // in the order of the printed rows; guarded by mu
}

// results has the results of this run.
var results ratios

// record adds a row for which a larger value is better.
func record(row string, value float64) { results.add(ratio{Row: row, Value: value}) }

// recordCost adds a row for which a smaller value is better.
func recordCost(row string, value float64) {
	results.add(ratio{Row: row, Value: value, LowerIsBetter: true})
}

func (r *ratios) add(row ratio) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, row)
}

// write stores the results in a JSON file. It creates the file's folder.
func (r *ratios) write(file string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, err := json.MarshalIndent(r.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(out, '\n'), 0o644)
}

// readRatios reads a file that write has stored.
func readRatios(file string) ([]ratio, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []ratio
	err = json.Unmarshal(text, &all)
	return all, err
}
