//go:build race

package metadata

func init() { step = 17 } // the race detector makes it some ten times slower
