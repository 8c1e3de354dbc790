package auth

import "net/http"

type resendRequest struct {
	Type  string `json:"type"`
	Email string `json:"email"`
	Phone string `json:"phone"`
	challenge
}

// Resend is POST /auth/v1/resend: what signup, a change of address or number, or a code by SMS has sent goes out anew,
// and what went out before is void. The answer is always {}.
func (s *Service) Resend(w http.ResponseWriter, r *http.Request) error {
	var body resendRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	kind, a, err := s.validateResend(body)
	if err != nil {
		return err
	}
	return s.ask(w, r, kind, a)
}

func (s *Service) validateResend(body resendRequest) (kind turn, a asked, err error) {
	byMail := false
	switch body.Type {
	case "signup":
		kind, a.Kind, byMail = turnConfirmation, askedConfirmation, true
	case "email_change":
		kind, a.Kind, byMail = turnEmailChange, askedEmailChange, true
	case "sms":
		kind, a.Kind = turnSMS, askedConfirmation
	case "phone_change":
		kind, a.Kind = turnPhoneChange, askedPhoneChange
	default:
		return "", a, errResendType
	}
	switch {
	case body.Email != "" && body.Phone != "":
		return "", a, errResendAmbiguous
	case body.Email == "" && body.Phone == "" && body.Type != "signup" && body.Type != "sms":
		return "", a, errResendWithout
	case byMail && body.Email == "":
		return "", a, errResendNeedsEmail
	case !byMail && body.Phone == "":
		return "", a, errResendNeedsPhone
	}
	if !byMail {
		a.Channel = "sms"
		a.Phone, err = s.phoneOf(body.Phone, errPhoneResendOff)
		return kind, a, err
	}
	a.Challenge = body.challenge
	if _, err := body.validate(); err != nil {
		return "", a, err
	}
	a.Email, err = normalizeEmail(body.Email)
	return kind, a, err
}
