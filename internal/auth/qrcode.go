package auth

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// Sizes of a QR code's picture: pixels for one module, and the white edge in modules that readers need (ISO/IEC 18004).
const (
	qrModule = 3
	qrEdge   = 4
)

// qrSVG draws the text as a QR code. Colours have names: the client puts the picture into a data address, where a #
// would end it.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	n := code.Bounds().Dx()
	side := n + 2*qrEdge
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="%d" height="%d" fill="white"/><path fill="black" d="`,
		side*qrModule, side*qrModule, side, side, side, side)
	for y := range n {
		for x := 0; x < n; x++ {
			run := 0
			for x+run < n && code.At(x+run, y) == color.Black {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+qrEdge, y+qrEdge, run, run)
				x += run
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String(), nil
}
