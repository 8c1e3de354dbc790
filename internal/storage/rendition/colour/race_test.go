//go:build race

package colour_test

func init() { count = 300 } // the race detector makes it some ten times slower
