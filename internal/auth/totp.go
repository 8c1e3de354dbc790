package auth

import (
	"crypto/subtle"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// totpPeriod is the length of a step, totpSkew how many steps a clock may be wrong by, either way (RFC 6238 §5.2).
const (
	totpPeriod = 30 // seconds
	totpSkew   = 1
)

// newTOTP makes a secret of 160 bits for an authenticator program.
func newTOTP(issuer, account string) (*otp.Key, error) {
	return totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: account, Period: totpPeriod})
}

// totpStep finds the step that the code belongs to, the newest first; false when it fits none that is in time.
func totpStep(secret, code string, now time.Time) (step int64, ok bool, err error) {
	code = strings.ReplaceAll(code, " ", "")
	current := now.Unix() / totpPeriod
	for s := current + totpSkew; s >= current-totpSkew; s-- {
		want, err := hotp.GenerateCodeCustom(secret, uint64(s), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && !ok {
			step, ok = s, true
		}
	}
	return step, ok, nil
}
