package auth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// Factor types and states, as the client reads them.
const (
	factorTOTP       = "totp"
	factorPhone      = "phone"
	statusUnverified = "unverified"
	statusVerified   = "verified"
)

// Limits of factors. An enrolment that nobody has verified or challenged for leftoverLife is taken away by the next one.
const (
	maxFactors    = 10
	maxFactorText = 64 // characters of a name or an issuer: the QR code must hold them
	leftoverLife  = 5 * time.Minute
)

// Events of second factors in the audit log.
const (
	auditFactorEnrolled   auditAction = "factor_in_progress"
	auditFactorUnenrolled auditAction = "factor_unenrolled"
	auditChallenge        auditAction = "challenge_created"
	auditFactorVerified   auditAction = "factor_verified"
	auditFactorRefused    auditAction = "factor_refused"
	auditRecoveryMade     auditAction = "recovery_codes_created"
	auditRecoveryUsed     auditAction = "recovery_code_used"
	auditRecoveryRefused  auditAction = "recovery_code_refused"
)

type enrolRequest struct {
	FriendlyName string `json:"friendly_name"`
	FactorType   string `json:"factor_type"`
	Issuer       string `json:"issuer"`
	Phone        string `json:"phone"`
}

type totpBody struct {
	QRCode string `json:"qr_code"` // plain SVG: the client puts "data:" before it
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

type enrolBody struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	FriendlyName string    `json:"friendly_name"`
	TOTP         *totpBody `json:"totp,omitempty"`
	Phone        string    `json:"phone,omitempty"`
}

// EnrolFactor is POST /auth/v1/factors: a new second factor, which counts once a code of it was verified.
func (s *Service) EnrolFactor(w http.ResponseWriter, r *http.Request) error {
	user, in, err := s.inSession(r.Context())
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
	if err := s.limit(w, r, "auth factor enrol", user.ID, factorCallsPerAccount); err != nil {
		return err
	}
	now := s.now()
	f := storedFactor{
		Factor: Factor{ID: uuid.NewString(), FriendlyName: body.FriendlyName, FactorType: body.FactorType, Status: statusUnverified, CreatedAt: now, UpdatedAt: now},
		userID: user.ID,
	}
	answer := enrolBody{ID: f.ID, Type: f.FactorType, FriendlyName: f.FriendlyName}
	if f.FactorType == factorPhone {
		if f.Phone, err = normalizePhone(body.Phone); err != nil {
			return err
		}
		answer.Phone = body.Phone
	} else if answer.TOTP, f.secret, err = s.newSecret(user, f.ID, body.Issuer); err != nil {
		return err
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		user, current, err := lockAccount(r.Context(), tx, in)
		if err != nil {
			return err
		}
		left := user.Factors[:0:0]
		for _, known := range user.Factors {
			if !replaces(f.Factor, known, now) {
				left = append(left, known)
			} else if err := deleteFactor(r.Context(), tx, user.ID, known.ID); err != nil {
				return err
			}
		}
		if err := mayEnrol(f.Factor, left, current); err != nil {
			return err
		}
		if err := insertFactor(r.Context(), tx, f); err != nil {
			return err
		}
		return s.audit(r.Context(), tx, clientOf(r), auditFactorEnrolled, user.ID, map[string]any{"factor_id": f.ID, "factor_type": f.FactorType})
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, answer)
}

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

// newSecret makes the secret that the account's owner reads into an authenticator, and its sealed form.
func (s *Service) newSecret(user User, factorID, issuer string) (*totpBody, string, error) {
	if issuer == "" {
		if site, err := url.Parse(s.cfg.SiteURL); err == nil {
			issuer = site.Host
		}
	}
	account := user.ID
	switch {
	case user.Email != "":
		account = user.Email
	case user.Phone != "":
		account = user.Phone
	}
	key, err := newTOTP(issuer, account)
	if err != nil {
		return nil, "", err
	}
	svg, err := qrSVG(key.URL())
	if err != nil { // too long, although the parts are not
		return nil, "", errFactorText.Because(err)
	}
	return &totpBody{QRCode: svg, Secret: key.Secret(), URI: key.URL()}, s.sealer.seal(purposeTOTP+factorID, []byte(key.Secret())), nil
}

const purposeTOTP = "totp "

// replaces tells whether a known factor makes room for a new one: an enrolment that was left unfinished, of the same
// name or number or simply old.
func replaces(f, known Factor, now time.Time) bool {
	if known.Status == statusVerified {
		return false
	}
	used := known.CreatedAt
	if known.LastChallengedAt != nil {
		used = *known.LastChallengedAt
	}
	same := known.FactorType == f.FactorType && (known.FriendlyName == f.FriendlyName || f.Phone != "" && known.Phone == f.Phone)
	return same || now.After(used.Add(leftoverLife))
}

// mayEnrol judges a new factor beside those that the account has, as Supabase Auth does.
func mayEnrol(f Factor, known []Factor, current session) error {
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
