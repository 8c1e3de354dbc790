//go:build !race

package hostile

const perSurface = 10_000
