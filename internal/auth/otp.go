package auth

import "net/http"

type otpRequest struct {
	Email      string         `json:"email"`
	Phone      string         `json:"phone"`
	CreateUser *bool          `json:"create_user"` // true when absent
	Data       map[string]any `json:"data"`
	Channel    string         `json:"channel"`
	challenge
}

// OTP is POST /auth/v1/otp: it sends a magic link and a code by mail, or a code by SMS. The answer is always {},
// also where no account may be made and the name is unknown: Supabase says otp_disabled then, and so who has an account.
func (s *Service) OTP(w http.ResponseWriter, r *http.Request) error {
	var body otpRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Email != "" && body.Phone != "":
		return errOTPAmbiguous
	case body.Email != "" && body.Channel != "":
		return errChannelWithEmail
	case body.Email == "" && body.Phone == "":
		return errOTPWithout
	}
	return s.sendOTP(w, r, body)
}

func (s *Service) sendOTP(w http.ResponseWriter, r *http.Request, body otpRequest) error {
	if _, err := body.validate(); err != nil {
		return err
	}
	a := asked{Kind: askedSignIn, Data: body.Data, Challenge: body.challenge, Create: s.cfg.SignupOpen && (body.CreateUser == nil || *body.CreateUser)}
	var err error
	kind := turnRecovery
	if body.Phone != "" {
		kind, a.Challenge = turnSMS, challenge{} // codes by SMS open the session themselves
		if a.Channel, err = checkChannel(body.Channel); err == nil {
			a.Phone, err = s.phoneOf(body.Phone, errPhoneCodesOff)
		}
	} else {
		a.Email, err = normalizeEmail(body.Email)
	}
	if err == nil {
		err = newAccount{email: a.Email, phone: a.Phone, data: a.Data}.checkFacts()
	}
	if err != nil {
		return err
	}
	return s.ask(w, r, kind, a)
}
