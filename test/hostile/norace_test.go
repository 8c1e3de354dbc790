//go:build !race

package hostile

import "atelie/test/soak"

// measures says whether the test measures the memory that the program keeps.
const measures = true

// perSurface is the number of requests to each surface and database.
var perSurface = soak.Size(1000, 10_000)
