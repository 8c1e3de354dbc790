// The two filters of resample.go for processors with AVX2 (256-bit vectors). resample_amd64.go declares the functions. The comments name
// the constants of resample.go.

#include "textflag.h"

// acrossAVX2 computes one output per round of the outer loop, from 16 samples of the row per round of the inner loop.
// func acrossAVX2(dst *int16, n int, line *byte, weights *int16, start *int32, taps int)
TEXT ·acrossAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ line+16(FP), SI
	MOVQ weights+24(FP), BX
	MOVQ start+32(FP), DX
	MOVQ taps+40(FP), R8

output:
	MOVLQSX (DX), R9
	ADDQ    SI, R9
	MOVQ    R8, R10
	VPXOR   Y0, Y0, Y0

taps:
	VPMOVZXBW (R9), Y1
	VPMADDWD  (BX), Y1, Y1
	VPADDD    Y1, Y0, Y0
	ADDQ      $16, R9
	ADDQ      $32, BX
	SUBQ      $16, R10
	JNZ       taps

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	ADDL         $128, AX          // half of 1<<(weightBits-rowBits)
	SARL         $8, AX
	VMOVD        AX, X0
	VPACKSSDW    X0, X0, X0        // saturates to 16 bits
	VMOVD        X0, AX
	MOVW         AX, (DI)
	ADDQ         $2, DI
	ADDQ         $4, DX
	DECQ         CX
	JNZ          output
	VZEROUPPER
	RET

// func downAVX2(dst *byte, ring, weights *int16, stride, taps int)
TEXT ·downAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ring+8(FP), SI
	MOVQ weights+16(FP), BX
	MOVQ stride+24(FP), CX
	MOVQ taps+32(FP), R8
	LEAQ (CX)(CX*1), R11           // bytes of a row
	MOVL $0x80000, AX              // half of 1<<(weightBits+rowBits)
	VMOVD        AX, X7
	VPBROADCASTD X7, Y7

columns:
	MOVQ    SI, R9
	MOVQ    BX, R10
	MOVQ    R8, R12
	VMOVDQA Y7, Y0
	VMOVDQA Y7, Y1

rows:
	VPBROADCASTD (R10), Y2         // the weights of two rows
	VMOVDQU      (R9), Y3
	VMOVDQU      (R9)(R11*1), Y4
	VPUNPCKLWD   Y4, Y3, Y5
	VPUNPCKHWD   Y4, Y3, Y6
	VPMADDWD     Y2, Y5, Y5
	VPMADDWD     Y2, Y6, Y6
	VPADDD       Y5, Y0, Y0
	VPADDD       Y6, Y1, Y1
	LEAQ         (R9)(R11*2), R9
	ADDQ         $4, R10
	SUBQ         $2, R12
	JNZ          rows

	VPSRAD    $20, Y0, Y0
	VPSRAD    $20, Y1, Y1
	VPACKSSDW Y1, Y0, Y0           // within each half, as the unpacking was
	VPACKUSWB Y0, Y0, Y0
	VPERMQ    $0x08, Y0, Y0
	VMOVDQU   X0, (DI)
	ADDQ      $16, DI
	ADDQ      $32, SI
	SUBQ      $16, CX
	JNZ       columns
	VZEROUPPER
	RET
