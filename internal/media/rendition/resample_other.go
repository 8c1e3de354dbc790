//go:build !amd64

package rendition

// This file replaces resample_amd64.go on processors without vector code.

func filterAcross(dst []int16, line []byte, weights []int16, start []int32, taps int) {
	acrossGeneric(dst, line, weights, start, taps)
}

func filterDown(dst []byte, ring, weights []int16, stride int) {
	downGeneric(dst, ring, weights, stride)
}
