package auth

import "net/http"

// resendRequest is the body of Resend.
type resendRequest struct {
	Type          string `json:"type"` // signup, email_change, sms or phone_change
	Email         string `json:"email"`
	Phone         string `json:"phone"`
	pkceChallenge        // used only for mails
}

// Resend handles POST /auth/v1/resend: it sends a confirmation message again. The message confirms a sign-up (by e-mail or SMS), a new
// e-mail address or a new phone number. The response to a valid request is always {}, whether or not the account exists.
func (s *Service) Resend(w http.ResponseWriter, r *http.Request) error {
	var body resendRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	cooldown, m, err := s.validateResend(body)
	if err != nil {
		return err
	}
	return s.requestMessage(w, r, cooldown, m)
}

// validateResend checks a request body. It returns the message request (the content of the job that sends the message) and the
// cooldown to start (the minimum time until the next message).
func (s *Service) validateResend(body resendRequest) (cooldown cooldownKind, m messageRequest, err error) {
	byMail := false
	switch body.Type {
	case "signup":
		cooldown, m.Kind, byMail = cooldownConfirmation, requestConfirmation, true
	case "email_change":
		cooldown, m.Kind, byMail = cooldownEmailChange, requestEmailChange, true
	case "sms": // the code of a sign-up with a phone number
		cooldown, m.Kind = cooldownSMS, requestConfirmation
	case "phone_change":
		cooldown, m.Kind = cooldownPhoneChange, requestPhoneChange
	default:
		return "", m, errResendType
	}
	switch {
	case body.Email != "" && body.Phone != "":
		return "", m, errResendAmbiguous
	// The types signup and sms have more specific errors below.
	case body.Email == "" && body.Phone == "" && body.Type != "signup" && body.Type != "sms":
		return "", m, errResendIdentifierMissing
	case byMail && body.Email == "":
		return "", m, errResendNeedsEmail
	case !byMail && body.Phone == "":
		return "", m, errResendNeedsPhone
	}
	if !byMail {
		m.Channel = "sms"
		m.Phone, err = s.normalizeEnabledPhone(body.Phone, errPhoneResendDisabled)
		return cooldown, m, err
	}
	m.Challenge = body.pkceChallenge
	if _, err := m.Challenge.validate(); err != nil {
		return "", m, err
	}
	m.Email, err = normalizeEmail(body.Email)
	return cooldown, m, err
}
