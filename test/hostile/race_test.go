//go:build race

package hostile

// Under the race detector everything is ten times slower, and takes memory that is the detector's: there are fewer
// requests, both databases at once, and nothing is measured.
const (
	perSurface = 2000
	measures   = false
)
