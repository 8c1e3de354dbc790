package auth

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"atelie/internal/apperr"
)

// This file validates new passwords, and password hashes from other sites.

// maxPasswordBytes is the length of the longest accepted password. It limits the work of hashing.
const maxPasswordBytes = 1024

var errPasswordTooLong = errInvalid("Password cannot be longer than %d bytes", maxPasswordBytes)

// weakPassword describes why a password is too weak. A sign-in with a weak password succeeds, but the response has the weakPassword in the
// field weak_password.
type weakPassword struct {
	Message string   `json:"message"`
	Reasons []string `json:"reasons"` // length (too short), pwned (known from breaches, or easy to guess)
}

// errWeakPassword returns the error for a new password that is too weak. Its Details contain the reasons, joined by commas; WriteError
// splits them again.
func errWeakPassword(weak *weakPassword) *apperr.Error {
	e := apperr.New(http.StatusUnprocessableEntity, codeWeakPassword, weak.Message)
	e.Details = strings.Join(weak.Reasons, ",")
	return e
}

// weakness returns the reasons why a password is too weak, or nil when it is good enough.
func (s *Service) weakness(password string) *weakPassword {
	var messages, reasons []string
	if utf8.RuneCountInString(password) < s.cfg.PasswordMinLength {
		messages = append(messages, fmt.Sprintf("Password should be at least %d characters.", s.cfg.PasswordMinLength))
		reasons = append(reasons, "length")
	}
	if isGuessable(password) {
		messages = append(messages, "Password is known to be weak and easy to guess, please choose a different one.")
		reasons = append(reasons, "pwned")
	}
	if reasons == nil {
		return nil
	}
	return &weakPassword{strings.Join(messages, " "), reasons}
}

// validatePassword returns an error for a new password that is too weak or too long.
func (s *Service) validatePassword(password string) error {
	if len(password) > maxPasswordBytes {
		return errPasswordTooLong
	}
	if weak := s.weakness(password); weak != nil {
		return errWeakPassword(weak)
	}
	return nil
}

// validateAndHashPassword returns the hash of a new password, or the error of validatePassword.
func (s *Service) validateAndHashPassword(ctx context.Context, password string) (string, error) {
	if err := s.validatePassword(password); err != nil {
		return "", err
	}
	return s.hasher.hash(ctx, password)
}

// validateImportedHash returns errPasswordHash for a hash that hasher.verify cannot read, or whose cost is too high.
func validateImportedHash(hash string) error {
	if strings.HasPrefix(hash, "$2") {
		cost, err := bcrypt.Cost([]byte(hash))
		if err != nil || cost > maxBcryptCost || len(hash) != bcryptLength {
			return errPasswordHash.Becausef("bcrypt of cost %d: %v", cost, err)
		}
		return nil
	}
	if _, err := parseArgonHash(hash); err != nil {
		return errPasswordHash.Because(err)
	}
	return nil
}

const bcryptLength = 60 // characters of every bcrypt hash
