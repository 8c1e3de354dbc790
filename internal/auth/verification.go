package auth

import (
	"context"
	"errors"
	"slices"
	"strings"

	"atelie/internal/db"
)

// This file consumes one-time tokens, and makes the changes that the tokens confirm. A one-time token is a link and a code that were sent
// together. The use of either invalidates both. The request handlers in verify.go call these functions.

// Types of verification, as the client names them.
const (
	verifySignup      = "signup"
	verifyInvite      = "invite"
	verifyMagicLink   = "magiclink"
	verifyRecovery    = "recovery"
	verifyEmailChange = "email_change"
	verifyEmail       = "email" // a confirmation or a sign-in
	verifySMS         = "sms"
	verifyPhoneChange = "phone_change"
)

// linkKinds maps each type of verification by a link to the kinds of one-time tokens that it accepts.
var linkKinds = map[string][]tokenKind{
	verifySignup:      {tokenConfirmation},
	verifyInvite:      {tokenConfirmation},
	verifyMagicLink:   {tokenRecovery},
	verifyRecovery:    {tokenRecovery},
	verifyEmailChange: {tokenEmailCurrent, tokenEmailNew},
	verifyEmail:       {tokenConfirmation, tokenRecovery},
}

// verifyResult is the result of a consumed one-time token.
type verifyResult struct {
	signInResult
	isFirstConfirmation bool // the token was the first of the two confirmations of an e-mail change; there is no code and no session
}

// findLinkOfType returns the one-time token of a link. verification is the type of verification that the client names.
// findLinkOfType returns errLinkExpired if the link does not allow this type.
func (s *Service) findLinkOfType(ctx context.Context, verification, link string) (oneTimeToken, error) {
	kinds, ok := linkKinds[verification]
	if !ok {
		return oneTimeToken{}, errVerifyEmailType.Becausef("type %q", verification)
	}
	t, err := s.findLink(ctx, link)
	if err != nil {
		return oneTimeToken{}, err
	}
	if !slices.Contains(kinds, t.kind) || !strings.Contains(t.sentTo, "@") { // tokens that were sent by SMS have no usable link
		return oneTimeToken{}, errLinkExpired.Becausef("a link of kind %s cannot be used for %s", t.kind, verification)
	}
	return t, nil
}

// candidate is an account (or the made-up id of a decoy) and the kinds of tokens that may have been sent to this account. findCode
// compares a code with the tokens of all candidates.
type candidate struct {
	userID string
	kinds  []tokenKind
}

// redeemToken consumes a token, makes the change that it confirms (applyToken) and signs the account in, all in one transaction.
// The result contains a session, or the code of the token's PKCE flow if wantsCode is true. After the first of the two confirmations of
// an e-mail change it contains neither.
func (s *Service) redeemToken(ctx context.Context, c clientInfo, t oneTimeToken, wantsCode bool) (v verifyResult, err error) {
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		v = verifyResult{}
		u, err := lockUser(ctx, tx, t.userID)
		if err != nil {
			return db.NoRowsAs(err, errOTPExpired.Becausef("user %s is gone", t.userID))
		}
		if u.banned(s.now()) {
			return errBanned.Becausef("user %s", u.ID)
		}
		if err := s.consumeToken(ctx, tx, t); err != nil {
			return err
		}
		if v.isFirstConfirmation, err = s.applyToken(ctx, tx, c, u, t); err != nil || v.isFirstConfirmation {
			return err
		}
		if wantsCode {
			if t.flowID == "" {
				return errFlowNotFound.Becausef("the link belongs to no flow")
			}
			v.code, err = s.issueAuthCode(ctx, tx, t.flowID, u.ID, "")
			return err
		}
		provider := "email"
		if !strings.Contains(t.sentTo, "@") {
			provider = "phone"
		}
		v.session, err = s.startSession(ctx, tx, c, u.ID, signIn{method: "otp", provider: provider})
		return err
	})
	return v, err
}

// applyToken makes the change that a token confirms: it marks an e-mail address or phone number as confirmed, or replaces it by
// a new one. It returns true when the change still needs a second confirmation.
func (s *Service) applyToken(ctx context.Context, tx *db.Tx, c clientInfo, u User, t oneTimeToken) (isFirstConfirmation bool, err error) {
	elsewhere := errOTPExpired.Becausef("sent to an address or number that the account no longer has")
	switch t.kind {
	case tokenConfirmation, tokenRecovery:
		return false, s.confirm(ctx, tx, c, u, t)
	case tokenEmailCurrent, tokenEmailNew:
		if u.NewEmail == "" || t.kind == tokenEmailCurrent && t.sentTo != u.Email || t.kind == tokenEmailNew && t.sentTo != u.NewEmail {
			return false, elsewhere
		}
		if u.Email != "" && u.emailChangeStatus == 0 {
			return true, setUser(ctx, tx, u.ID, s.now(), columnChange{colEmailChangeStatus, 1})
		}
		return false, s.finishEmailChange(ctx, tx, c, u)
	case tokenPhoneChange:
		if u.NewPhone == "" || t.sentTo != u.NewPhone {
			return false, elsewhere
		}
		return false, s.changePhone(ctx, tx, c, u, u.NewPhone)
	}
	return false, errOTPExpired.Becausef("a token of kind %s cannot be redeemed", t.kind)
}

// confirm marks the account's address or number as confirmed by a link or code. If the link or code was not sent for the sign-up, its
// reader may not be the user who opened the account. If nothing else in the account is confirmed, confirm therefore removes the
// password. For an address it also removes every other way to sign in.
func (s *Service) confirm(ctx context.Context, tx *db.Tx, c clientInfo, u User, t oneTimeToken) error {
	bySignUp := t.kind == tokenConfirmation
	switch t.sentTo {
	case u.Email:
		return s.confirmEmail(ctx, tx, c, u, bySignUp)
	case u.Phone:
		return s.confirmPhone(ctx, tx, c, u, bySignUp)
	}
	return errOTPExpired.Becausef("sent to an address or number that the account no longer has")
}

func (s *Service) confirmEmail(ctx context.Context, tx *db.Tx, c clientInfo, u User, bySignUp bool) error {
	if u.EmailConfirmedAt != nil {
		return nil
	}
	if !bySignUp && u.PhoneConfirmedAt == nil {
		err := s.removeUnconfirmedAccess(ctx, tx, u.ID)
		if err == nil {
			u, err = userByID(ctx, tx, u.ID)
		}
		if err != nil {
			return err
		}
	}
	now := s.now()
	err := setUser(ctx, tx, u.ID, now, columnChange{colEmailConfirmed, now}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, map[string]any{"email_verified": true})})
	if err != nil {
		return err
	}
	for _, i := range u.Identities {
		if i.Email == u.Email {
			if err := setIdentityData(ctx, tx, i.IdentityID, mergeMetadata(i.IdentityData, map[string]any{"email_verified": true}), now); err != nil {
				return err
			}
		}
	}
	if len(u.Identities) == 0 {
		err = errors.Join(saveAddressIdentity(ctx, tx, u.ID, "email", u.Email, true, now), s.syncProviders(ctx, tx, u.ID))
	}
	return errors.Join(
		err,
		deleteOneTimeTokens(ctx, tx, u.ID, tokenConfirmation, tokenRecovery),
		s.audit(ctx, tx, c, auditSignedUp, u.ID, map[string]any{"provider": "email"}),
	)
}

func (s *Service) confirmPhone(ctx context.Context, tx *db.Tx, c clientInfo, u User, bySignUp bool) error {
	if u.PhoneConfirmedAt != nil {
		return nil
	}
	changes := []columnChange{{colPhoneConfirmed, s.now()}}
	if !bySignUp && u.EmailConfirmedAt == nil {
		changes = append(changes, columnChange{colPassword, nil})
	}
	return errors.Join(
		setUser(ctx, tx, u.ID, s.now(), changes...),
		deleteOneTimeTokens(ctx, tx, u.ID, tokenConfirmation, tokenRecovery),
		s.audit(ctx, tx, c, auditSignedUp, u.ID, map[string]any{"provider": "phone"}),
	)
}

// finishEmailChange replaces the account's address by the new one, deletes pending links and codes, and mails a notice to the
// former address.
func (s *Service) finishEmailChange(ctx context.Context, tx *db.Tx, c clientInfo, u User) error {
	now := s.now()
	facts := map[string]any{"email": u.NewEmail, "email_verified": true}
	err := setUser(ctx, tx, u.ID, now, columnChange{colEmail, u.NewEmail}, columnChange{colEmailConfirmed, now}, columnChange{colEmailChange, nil}, columnChange{colEmailChangeSent, nil},
		columnChange{colEmailChangeStatus, 0}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, facts)})
	if err != nil {
		return err
	}
	if i, ok := u.identityOf("email"); ok {
		err = setIdentityData(ctx, tx, i.IdentityID, mergeMetadata(i.IdentityData, facts), now)
	} else {
		err = saveAddressIdentity(ctx, tx, u.ID, "email", u.NewEmail, true, now)
	}
	return errors.Join(
		err,
		s.syncProviders(ctx, tx, u.ID),
		deletePending(ctx, tx, u.ID),
		s.sendNotice(ctx, tx, c, u, MailEmailChanged), // the notice goes to the old address
		s.audit(ctx, tx, c, auditUserModified, u.ID, map[string]any{"changed": "email"}),
	)
}

// changePhone sets the account's number, which was confirmed or needs no confirmation.
func (s *Service) changePhone(ctx context.Context, tx *db.Tx, c clientInfo, u User, phone string) error {
	now := s.now()
	err := setUser(ctx, tx, u.ID, now, columnChange{colPhone, phone}, columnChange{colPhoneConfirmed, now}, columnChange{colPhoneChange, nil}, columnChange{colPhoneChangeSent, nil})
	if err != nil {
		return err
	}
	facts := map[string]any{"phone": phone, "phone_verified": true}
	if i, ok := u.identityOf("phone"); ok {
		err = setIdentityData(ctx, tx, i.IdentityID, mergeMetadata(i.IdentityData, facts), now)
	} else {
		facts["sub"] = u.ID
		err = saveIdentity(ctx, tx, u.ID, "phone", u.ID, facts, now)
	}
	return errors.Join(
		err,
		s.syncProviders(ctx, tx, u.ID),
		deleteOneTimeTokens(ctx, tx, u.ID, tokenPhoneChange),
		s.audit(ctx, tx, c, auditUserModified, u.ID, map[string]any{"changed": "phone"}),
	)
}
