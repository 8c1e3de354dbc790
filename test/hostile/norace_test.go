//go:build !race

package hostile

const (
	perSurface = 10_000
	measures   = true // what the program keeps
)
