//go:build !race

package hostile

import "atelie/test/soak"

const measures = true // the memory that the program keeps

var perSurface = soak.Size(1000, 10_000)
