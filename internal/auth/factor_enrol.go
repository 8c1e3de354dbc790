package auth

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file handles the enrolment of second factors: adding an authenticator app (TOTP) or a phone number to an account.

// enrolRequest is the body of EnrolFactor.
type enrolRequest struct {
	FriendlyName string `json:"friendly_name"`
	FactorType   string `json:"factor_type"` // totp or phone
	Issuer       string `json:"issuer"`      // name that the authenticator app shows for the site; "": the site's host
	Phone        string `json:"phone"`       // the phone number, required for a phone factor
	// proof is the password or a code. It is required from an owner (an account with the role admin) whose sign-in is not recent.
	proof
}

// totpSecret is the secret of a new TOTP factor, in the three forms that authenticator apps accept.
type totpSecret struct {
	QRCode string `json:"qr_code"` // URI as a QR code in SVG; the client makes a data: URL of it
	Secret string `json:"secret"`  // the secret in base32, for users who type it in
	URI    string `json:"uri"`     // otpauth://…, with the secret, the issuer and the account's name
}

// enrolResponse is the response body of EnrolFactor.
type enrolResponse struct {
	ID           string      `json:"id"`
	Type         string      `json:"type"`
	FriendlyName string      `json:"friendly_name"`
	TOTP         *totpSecret `json:"totp,omitempty"`  // nil for a phone factor
	Phone        string      `json:"phone,omitempty"` // "" for a TOTP factor
}

// EnrolFactor handles POST /auth/v1/factors: it adds an unverified second factor to the caller's account. The factor has no effect
// until VerifyFactor has accepted one of its codes.
func (s *Service) EnrolFactor(w http.ResponseWriter, r *http.Request) error {
	user, callerSession, err := s.currentSession(r.Context())
	if err != nil {
		return err
	}
	var body enrolRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := s.validateEnrolment(body); err != nil {
		return err
	}
	if err := s.limit(w, r, limitEnrolments, user.ID, factorCallsPerAccount); err != nil {
		return err
	}
	nonce, err := s.reauthenticateIfStale(w, r, user, callerSession.id, body.proof)
	if err != nil {
		return err
	}
	now := s.now()
	f := storedFactor{
		Factor: Factor{
			ID: uuid.NewString(), FriendlyName: body.FriendlyName, FactorType: body.FactorType, Status: statusUnverified, CreatedAt: now, UpdatedAt: now,
			userID: user.ID,
		},
	}
	response := enrolResponse{ID: f.ID, Type: f.FactorType, FriendlyName: f.FriendlyName}
	if f.FactorType == factorPhone {
		if f.Phone, err = normalizePhone(body.Phone); err != nil {
			return err
		}
		response.Phone = body.Phone
	} else if response.TOTP, f.secret, err = s.newTOTPSecret(user, f.ID, body.Issuer); err != nil {
		return err
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		user, current, err := s.lockSession(r.Context(), tx, callerSession)
		if err != nil {
			return err
		}
		if err := s.consumeNonce(r.Context(), tx, nonce); err != nil {
			return err
		}
		remaining := user.Factors[:0:0] // the factors that stay; the capacity 0 makes append allocate a new array
		for _, known := range user.Factors {
			if !replacesFactor(f.Factor, known, now) {
				remaining = append(remaining, known)
			} else if err := deleteFactor(r.Context(), tx, user.ID, known.ID); err != nil {
				return err
			}
		}
		if err := checkEnrolment(f.Factor, remaining, current); err != nil {
			return err
		}
		return errors.Join(
			insertFactor(r.Context(), tx, f),
			s.audit(r.Context(), tx, clientOf(r), auditFactorEnrolled, user.ID, map[string]any{"factor_id": f.ID, "factor_type": f.FactorType}),
		)
	})
	return respondPrivate(w, response, err)
}

// validateEnrolment returns an error for a request that no account could make.
func (s *Service) validateEnrolment(b enrolRequest) error {
	switch b.FactorType {
	case factorTOTP:
	case factorPhone:
		if !s.cfg.PhoneEnabled {
			return errPhoneEnrolDisabled
		}
		if b.Phone == "" {
			return errFactorPhoneMissing
		}
	case "webauthn":
		return errWebAuthnDisabled
	default:
		return errFactorType.Becausef("factor_type %q", b.FactorType)
	}
	for _, text := range []string{b.FriendlyName, b.Issuer} {
		if utf8.RuneCountInString(text) > maxFactorText || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
			return errFactorText
		}
	}
	return nil
}

// newTOTPSecret creates the secret of a TOTP factor. It returns the secret for the response, and sealed for the database.
func (s *Service) newTOTPSecret(user User, factorID, issuer string) (secret *totpSecret, sealed string, err error) {
	if issuer == "" {
		if site, err := url.Parse(s.cfg.SiteURL); err == nil {
			issuer = site.Host
		}
	}
	key, err := newTOTP(issuer, cmp.Or(user.Email, user.Phone, user.ID))
	if err != nil {
		return nil, "", err
	}
	svg, err := qrSVG(key.URL())
	if err != nil { // the URL is too long for a QR code
		return nil, "", errFactorText.Because(err)
	}
	return &totpSecret{QRCode: svg, Secret: key.Secret(), URI: key.URL()}, s.sealer.seal(purposeTOTP+factorID, []byte(key.Secret())), nil
}

// replacesFactor reports whether the new factor f replaces known, a factor of the account. It replaces an unverified factor that
// has the same type and the same name or number, or that was not used for longer than unverifiedFactorLife.
func replacesFactor(f, known Factor, now time.Time) bool {
	if known.Status == statusVerified {
		return false
	}
	lastUsed := known.CreatedAt // or the time of the newest challenge
	if known.LastChallengedAt != nil {
		lastUsed = *known.LastChallengedAt
	}
	isSameFactor := known.FactorType == f.FactorType && (known.FriendlyName == f.FriendlyName || f.Phone != "" && known.Phone == f.Phone)
	return isSameFactor || now.After(lastUsed.Add(unverifiedFactorLife))
}

// checkEnrolment returns an error when the account cannot have the new factor f beside its known factors. The rules are those of
// Supabase Auth.
func checkEnrolment(f Factor, known []Factor, current session) error {
	switch {
	case f.Phone != "" && slices.ContainsFunc(known, func(k Factor) bool { return k.Phone == f.Phone }):
		return errFactorExists
	case slices.ContainsFunc(known, func(k Factor) bool { return k.FriendlyName == f.FriendlyName }):
		return errFactorName(f.FriendlyName)
	case len(known) >= maxFactors:
		return errTooManyFactors
	case User{Factors: known}.hasVerifiedFactor() && current.aal != aal2:
		return errEnrolAAL
	}
	return nil
}
