package auth

import "net/http"

// This file handles sign-ins without a password: by a link or a code (a one-time password, OTP) that is sent by mail or SMS.

// otpRequest is the body of OTP and MagicLink.
type otpRequest struct {
	Email      string         `json:"email"`
	Phone      string         `json:"phone"`
	CreateUser *bool          `json:"create_user"` // create an account if the address or number has none; nil (not in the body) means true
	Data       map[string]any `json:"data"`        // user metadata of a new account
	Channel    string         `json:"channel"`     // how the code is sent to a phone number: sms (the default) or whatsapp
	pkceChallenge
}

// OTP handles POST /auth/v1/otp: it sends a magic link (a link that signs in) with a code by mail, or a code by SMS. The response
// to a valid request is always {}. Unlike Supabase Auth, it does not return otp_disabled if there is no account and create_user is
// false, because that error would reveal who has an account.
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
		return errOTPIdentifierMissing
	}
	return s.sendOTP(w, r, body)
}

// MagicLink handles POST /auth/v1/magiclink, the older form of POST /otp, for e-mail addresses only.
func (s *Service) MagicLink(w http.ResponseWriter, r *http.Request) error {
	var body otpRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Email == "" {
		return errMagicLinkEmailMissing
	}
	body.Phone, body.CreateUser = "", nil // POST /magiclink does not have these fields
	return s.sendOTP(w, r, body)
}

// sendOTP validates a body with either an e-mail address or a phone number, and queues the message.
func (s *Service) sendOTP(w http.ResponseWriter, r *http.Request, body otpRequest) error {
	if _, err := body.validate(); err != nil {
		return err
	}
	m := messageRequest{
		Kind:      requestSignIn,
		Data:      body.Data,
		Create:    s.cfg.SignupOpen && (body.CreateUser == nil || *body.CreateUser),
		Challenge: body.pkceChallenge,
	}
	var err error
	cooldown := cooldownRecovery // sign-in links share the cooldown (the minimum time between two messages) of recovery mails
	if body.Phone != "" {
		cooldown, m.Challenge = cooldownSMS, pkceChallenge{} // a code by SMS opens the session without a PKCE flow
		if m.Channel, err = normalizeChannel(body.Channel); err == nil {
			m.Phone, err = s.normalizeEnabledPhone(body.Phone, errPhoneOTPDisabled)
		}
	} else {
		m.Email, err = normalizeEmail(body.Email)
	}
	if err == nil {
		err = accountParams{email: m.Email, phone: m.Phone, clientMetadata: m.Data}.validateUserMetadata()
	}
	if err != nil {
		return err
	}
	return s.requestMessage(w, r, cooldown, m)
}
