package rendition

import "golang.org/x/sys/cpu"

// This file calls the vector code of resample_amd64.s if the processor can run it (if it has AVX2). The code replaces the two filters of
// resample.go: acrossGeneric, along a row, and downGeneric, along the columns.

// hasAVX2 reports whether the processor can run the vector code.
var hasAVX2 = cpu.X86.HasAVX2

// acrossAVX2 is acrossGeneric with vectors. n is the number of outputs. taps and len(weights) must be multiples of block. line must have at
// least taps samples after each start.
//
//go:noescape
func acrossAVX2(dst *int16, n int, line *byte, weights *int16, start *int32, taps int)

// downAVX2 is downGeneric with vectors. ring has the rows to which the weights are applied, stride samples each. stride must be a multiple
// of block. taps is the number of weights and must be even.
//
//go:noescape
func downAVX2(dst *byte, ring, weights *int16, stride, taps int)

// filterAcross is acrossGeneric, with vectors if possible.
func filterAcross(dst []int16, line []byte, weights []int16, start []int32, taps int) {
	if !hasAVX2 || len(dst) == 0 {
		acrossGeneric(dst, line, weights, start, taps)
		return
	}
	acrossAVX2(&dst[0], len(dst), &line[0], &weights[0], &start[0], taps)
}

// filterDown is downGeneric, with vectors if possible.
func filterDown(dst []byte, ring, weights []int16, stride int) {
	if !hasAVX2 {
		downGeneric(dst, ring, weights, stride)
		return
	}
	downAVX2(&dst[0], &ring[0], &weights[0], stride, len(weights))
}
