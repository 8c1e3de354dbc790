//go:build !race

package rendition

// raceDetector reports whether the program was built with the race detector.
const raceDetector = false
