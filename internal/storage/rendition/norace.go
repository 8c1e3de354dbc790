//go:build !race

package rendition

const raceDetector = false
