//go:build race

package hostile

import "atelie/test/soak"

// The race detector makes the test ten times slower and uses memory itself. Therefore the test sends fewer requests, tests both databases in
// parallel, and does not measure memory.
const measures = false

var perSurface = soak.Size(300, 2000)
