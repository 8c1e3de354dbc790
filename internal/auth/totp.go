package auth

import (
	"crypto/subtle"
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// This file makes the secrets of authenticator apps, checks the apps' codes (TOTP, RFC 6238), and writes QR codes as SVG.

// Settings of TOTP. Time is divided into steps, and each step has its own code.
const (
	totpPeriod = 30 // length of a step in seconds
	totpSkew   = 1  // maximum accepted difference between the app's clock and this server's, in steps (§5.2)
)

// newTOTP returns a random secret of 160 bits for an authenticator app. issuer and account are the names that the app shows.
func newTOTP(issuer, account string) (*otp.Key, error) {
	return totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: account, Period: totpPeriod})
}

// totpStep returns the number of the step to which a code belongs: the Unix time divided by totpPeriod. If the code belongs to several
// steps, totpStep returns the newest. ok is false if the code belongs to no step within totpSkew of now.
func totpStep(secret, code string, now time.Time) (step int64, ok bool, err error) {
	code = strings.ReplaceAll(code, " ", "")
	current := now.Unix() / totpPeriod
	for candidate := current + totpSkew; candidate >= current-totpSkew; candidate-- {
		expected, err := hotp.GenerateCodeCustom(secret, uint64(candidate), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(expected), []byte(code)) == 1 && !ok {
			step, ok = candidate, true
		}
	}
	return step, ok, nil
}

// Sizes of a QR code. A module is one of its squares.
const (
	qrModulePixels = 3 // pixels for one module
	qrMargin       = 4 // modules of white around the code; readers need them (ISO/IEC 18004)
)

// qrSVG returns the text as a QR code in SVG. It writes colours as names instead of #rrggbb, because the client puts the SVG into a data:
// URL, where a # would begin the fragment.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	n := code.Bounds().Dx()
	side := n + 2*qrMargin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="%d" height="%d" fill="white"/><path fill="black" d="`,
		side*qrModulePixels, side*qrModulePixels, side, side, side, side)
	for y := range n {
		for x := 0; x < n; x++ {
			run := 0
			for x+run < n && code.At(x+run, y) == color.Black {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+qrMargin, y+qrMargin, run, run)
				x += run
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String(), nil
}
