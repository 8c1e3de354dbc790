package rendition

import "golang.org/x/sys/cpu"

var vector = cpu.X86.HasAVX2

// acrossAVX2 needs taps and len(weights) in whole blocks, and line at least taps long behind every start.
//
//go:noescape
func acrossAVX2(dst *int16, n int, line *byte, weights *int16, start *int32, taps int)

// downAVX2 needs stride in whole blocks and an even number of weights.
//
//go:noescape
func downAVX2(dst *byte, ring, weights *int16, stride, taps int)

func rowAcross(dst []int16, line []byte, weights []int16, start []int32, taps int) {
	if !vector || len(dst) == 0 {
		acrossGeneric(dst, line, weights, start, taps)
		return
	}
	acrossAVX2(&dst[0], len(dst), &line[0], &weights[0], &start[0], taps)
}

func rowDown(dst []byte, ring, weights []int16, stride int) {
	if !vector {
		downGeneric(dst, ring, weights, stride)
		return
	}
	downAVX2(&dst[0], &ring[0], &weights[0], stride, len(weights))
}
