package auth

import "net/http"

// MagicLink is POST /auth/v1/magiclink, the older name of POST /otp for e-mail.
func (s *Service) MagicLink(w http.ResponseWriter, r *http.Request) error {
	var body otpRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Email == "" {
		return errMagicLinkWithout
	}
	body.Phone, body.CreateUser = "", nil
	return s.sendOTP(w, r, body)
}
