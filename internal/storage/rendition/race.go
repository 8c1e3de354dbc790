//go:build race

package rendition

const raceDetector = true
