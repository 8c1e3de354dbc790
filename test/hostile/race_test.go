//go:build race

package hostile

// perSurface is less under the race detector, which makes everything ten times slower.
const perSurface = 2000
