//go:build !amd64

package rendition

// This file replaces resample_amd64.go on other processors, for which this package has no vector code.

// filterAcross filters along a row: each sample of dst is a weighted sum of taps samples of line.
func filterAcross(dst []int16, line []byte, weights []int16, start []int32, taps int) {
	acrossGeneric(dst, line, weights, start, taps)
}

// filterDown filters along the columns: each sample of dst is a weighted sum of the samples in its column of ring, which has stride
// samples a row.
func filterDown(dst []byte, ring, weights []int16, stride int) {
	downGeneric(dst, ring, weights, stride)
}
