//go:build race

package hostile

import "atelie/test/soak"

// The race detector makes everything ten times slower and uses memory itself. So there are fewer requests, both databases run
// in parallel, and memory is not measured.
const measures = false

var perSurface = soak.Size(300, 2000)
