package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// This file compares two builds of the program, so that a change that makes it slower is noticed.

const (
	comparedPairs = 3    // how often the benchmarks run with each of the two programs
	comparedLimit = 0.10 // how much worse a result of the new program may be than that of the old one: 10 %
)

// comparedTables are the benchmarks that compareBuilds runs if its arguments name none. Each takes at most a minute or two.
var comparedTables = []string{"demo", "pages", "files", "tables", "writes"}

// compareBuilds runs the benchmarks with the old and the new program in turn, and returns an error if a result of the new program is more
// than comparedLimit worse. A result is a ratio: a figure of the program, relative to a reference of the same run. For each pair of runs,
// compareBuilds divides the new ratio by the old one. The median of these quotients counts, so a change of the machine's speed between two
// pairs has no effect. The arguments are the old program, the new one, and the names of benchmarks (default: comparedTables).
func compareBuilds(ctx context.Context, out io.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: bench compare OLD-PROGRAM NEW-PROGRAM [TABLE ...]")
	}
	programs, names := args[:2], args[2:]
	if len(names) == 0 {
		names = comparedTables
	}
	dir, err := os.MkdirTemp("", "atelie-compare")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pairs := make([][2][]ratio, comparedPairs) // the results of the old and the new program
	for n := range pairs {
		for i, program := range programs {
			for _, name := range names {
				file := filepath.Join(dir, fmt.Sprintf("%d-%d-%s.json", n, i, name))
				c := exec.CommandContext(ctx, self(), name)
				c.Env = append(os.Environ(), programVariable+"="+program, resultsVariable+"="+file)
				if output, err := c.CombinedOutput(); err != nil {
					return fmt.Errorf("%s with %s: %w\n%s", name, program, err, output)
				}
				rows, err := readRatios(file)
				if err != nil {
					return err
				}
				pairs[n][i] = append(pairs[n][i], rows...)
			}
		}
	}
	return compareRatios(out, pairs)
}

// compareRatios prints a line for each row of the old program, and returns an error that names the rows that are worse or missing.
func compareRatios(out io.Writer, pairs [][2][]ratio) error {
	if _, err := fmt.Fprintf(out, "%-64s %9s %9s %9s\n", "median of the pairs", "old", "new", "new/old"); err != nil {
		return err
	}
	var worse []string
	for _, row := range pairs[0][0] {
		var oldValues, newValues, quotients []float64
		for _, pair := range pairs {
			oldRow, newRow := findRow(pair[0], row.Row), findRow(pair[1], row.Row)
			if oldRow == nil || newRow == nil || oldRow.Value == 0 {
				continue
			}
			oldValues, newValues, quotients = append(oldValues, oldRow.Value), append(newValues, newRow.Value), append(quotients, newRow.Value/oldRow.Value)
		}
		if len(quotients) < len(pairs) {
			worse = append(worse, row.Row+": not measured in each run")
			continue
		}
		q := median(quotients)
		mark := ""
		if row.LowerIsBetter && q > 1+comparedLimit || !row.LowerIsBetter && q < 1-comparedLimit {
			mark = "  worse"
			worse = append(worse, fmt.Sprintf("%s: %.2f times", row.Row, q))
		}
		if _, err := fmt.Fprintf(out, "%-64s %9.3f %9.3f %9.3f%s\n", row.Row, median(oldValues), median(newValues), q, mark); err != nil {
			return err
		}
	}
	if len(worse) > 0 {
		return fmt.Errorf("%d rows are more than %.0f %% worse:\n  %s", len(worse), comparedLimit*100, strings.Join(worse, "\n  "))
	}
	return nil
}

// findRow returns the row with that name, or nil.
func findRow(rows []ratio, name string) *ratio {
	for i := range rows {
		if rows[i].Row == name {
			return &rows[i]
		}
	}
	return nil
}
