package auth

import (
	"errors"
	"net/http"

	"atelie/internal/db"
)

// This file handles reauthentication: a signed-in user proves their identity again before a change, such as a new password.

// Reauthenticate handles GET /auth/v1/reauthenticate: it sends the caller a code by mail, or by SMS if the account has no e-mail address.
// The client puts the code into the nonce field of a later request, such as the change of the password with PUT /user.
func (s *Service) Reauthenticate(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	u, _, err := s.currentUser(ctx)
	if err != nil {
		return err
	}
	switch {
	case u.Email == "" && u.Phone == "":
		return errReauthIdentifierMissing
	case u.Email != "" && u.EmailConfirmedAt == nil:
		return errReauthEmailUnconfirmed
	case u.Email == "" && u.PhoneConfirmedAt == nil:
		return errReauthPhoneUnconfirmed
	}
	cooldown, recipient := cooldownReauthentication, u.Email
	if u.Email == "" {
		cooldown, recipient = cooldownSMS, u.Phone // text messages have a cooldown of their own
	}
	if err := s.startMessageCooldown(ctx, cooldown, recipient); err != nil {
		return err
	}
	c := clientOf(r)
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		u, err := lockUser(ctx, tx, u.ID) // two concurrent requests must not both use the rest of the quota
		if err != nil {
			return db.NoRowsAs(err, errUserNotFound)
		}
		if u.Email == "" {
			return s.sendCode(ctx, tx, c, u, tokenReauthenticate, u.Phone, "sms", columnChange{colReauthSent, s.now()})
		}
		if err := s.requireQuota(ctx, tx, cooldownReauthentication, s.mailQuota(), u.Email); err != nil {
			return err
		}
		issued, err := s.issueToken(ctx, tx, u.ID, tokenReauthenticate, u.Email, "", codeLife, columnChange{colReauthSent, s.now()})
		if err != nil {
			return err
		}
		return errors.Join( // an error of either rolls back the transaction
			s.audit(ctx, tx, c, auditReauthenticationRequested, u.ID, map[string]any{"kind": MailReauthentication}),
			s.sendMail(ctx, tx, Mail{Kind: MailReauthentication, To: u.Email, Language: languageFor(u, c), Code: issued.Code}),
		)
	})
	return respondEmpty(w, err)
}

// ConfirmReauthentication handles POST /auth/v1/reauthenticate (not in Supabase Auth). It checks the current password or the code that
// Reauthenticate has sent, and records the reauthentication in the session. Within reauthenticateAfter, changes then need no other proof.
// The site calls this endpoint before those methods of Supabase's client that cannot send a password or a code themselves.
func (s *Service) ConfirmReauthentication(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	u, callerSession, err := s.currentSession(ctx)
	if err != nil {
		return err
	}
	var body proof
	if err := decode(w, r, &body); err != nil {
		return err
	}
	nonce, err := s.checkProof(w, r, u, body, errProofMissing)
	if err != nil {
		return err
	}
	method := "password"
	if nonce.kind != "" {
		method = methodNonce
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		_, current, err := s.lockSession(ctx, tx, callerSession)
		if err != nil {
			return err
		}
		current.amr = withMethod(current.amr, method, s.now())
		return errors.Join( // an error of any rolls back the transaction
			s.consumeNonce(ctx, tx, nonce),
			setAMR(ctx, tx, current),
			s.audit(ctx, tx, clientOf(r), auditReauthenticated, u.ID, map[string]any{"method": method, "session_id": callerSession.id}),
		)
	})
	return respondEmpty(w, err)
}
