package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// Types of verification, as the client names them.
const (
	verifySignup      = "signup"
	verifyInvite      = "invite"
	verifyMagicLink   = "magiclink"
	verifyRecovery    = "recovery"
	verifyEmailChange = "email_change"
	verifyEmail       = "email" // confirmation or sign-in, whichever was sent
	verifySMS         = "sms"
	verifyPhoneChange = "phone_change"
)

// linkKinds are the stored tokens that each type of verification takes.
var linkKinds = map[string][]tokenType{
	verifySignup: {tokenConfirmation}, verifyInvite: {tokenConfirmation},
	verifyMagicLink: {tokenRecovery}, verifyRecovery: {tokenRecovery},
	verifyEmailChange: {tokenEmailCurrent, tokenEmailNew},
	verifyEmail:       {tokenConfirmation, tokenRecovery},
}

type verifyRequest struct {
	Type       string `json:"type"`
	Token      string `json:"token"`
	TokenHash  string `json:"token_hash"`
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	RedirectTo string `json:"redirect_to"`
}

// firstOfTwo is what the first of the two confirmations of an e-mail change is answered with.
const firstOfTwo = "Confirmation link accepted. Please proceed to confirm link sent to the other email"

// verified is what came of a link or code: a session, the code of a PKCE flow, or neither after the first of two
// confirmations.
type verified struct {
	grant    grant
	authCode string
	first    bool
}

// Verify is POST /auth/v1/verify: a code with its address or number, or the hash of a link, opens a session.
func (s *Service) Verify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body verifyRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := body.validate(); err != nil {
		return err
	}
	if err := s.limit(w, r, "auth verify address", httpx.LimitSubject(ctx), verifiesPerAddress); err != nil {
		return err
	}
	var (
		t   oneTimeToken
		err error
	)
	if body.TokenHash != "" {
		t, err = s.findLinkOf(ctx, body.Type, body.TokenHash)
	} else {
		t, err = s.findCode(ctx, body)
	}
	if err != nil {
		return err
	}
	v, err := s.useToken(ctx, clientOf(r), t, false)
	if err != nil {
		return err
	}
	if v.first {
		return httpx.JSON(w, http.StatusOK, map[string]string{"msg": firstOfTwo, "code": "200"})
	}
	return s.answerSession(w, v.grant)
}

// validate checks the form of POST verify.
func (v verifyRequest) validate() error {
	switch {
	case v.Type == "":
		return errVerifyType
	case (v.Token == "") == (v.TokenHash == ""):
		return errVerifyAmbiguous
	case v.Token != "" && (v.Email == "") == (v.Phone == ""):
		return errVerifyWhose
	case v.TokenHash != "" && (v.Email != "" || v.Phone != "" || v.RedirectTo != ""):
		return errVerifyHashAlone
	}
	return nil
}

// VerifyLink is GET /auth/v1/verify, where the links in mails lead: it sends the browser on with a session behind #,
// with the code of a PKCE flow, or with what went wrong. HEAD, which mail scanners send, uses nothing up.
func (s *Service) VerifyLink(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	link, kind := q.Get("token"), q.Get("type")
	if link == "" {
		link = q.Get("token_hash")
	}
	switch {
	case kind == "":
		return errVerifyType
	case link == "":
		return errVerifyWithout
	case r.Method == http.MethodHead:
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
		return nil
	}
	if err := s.limit(w, r, "auth verify address", httpx.LimitSubject(ctx), verifiesPerAddress); err != nil {
		return err
	}
	to, pkce := s.redirectTarget(askedRedirect(r)), strings.HasPrefix(link, "pkce_")
	t, err := s.findLinkOf(ctx, kind, link)
	var v verified
	if err == nil {
		v, err = s.useToken(ctx, clientOf(r), t, pkce)
	}
	var refusal *apperr.Error
	switch {
	case errors.As(err, &refusal):
		return s.redirectWithError(w, r, to, refusal, pkce)
	case err != nil:
		return err
	case v.first:
		return s.redirectWithMessage(w, r, to, firstOfTwo, pkce)
	case v.authCode != "":
		return s.redirectWithCode(w, r, to, v.authCode)
	}
	return s.redirectWithSession(w, r, to, v.grant, url.Values{"type": {kind}})
}

// findLinkOf looks up a link that must be good for the type of verification.
func (s *Service) findLinkOf(ctx context.Context, kind, link string) (oneTimeToken, error) {
	kinds, ok := linkKinds[kind]
	if !ok {
		return oneTimeToken{}, errVerifyEmailType.Becausef("type %q", kind)
	}
	t, err := s.findLink(ctx, link)
	if err != nil {
		return oneTimeToken{}, err
	}
	for _, k := range kinds {
		if t.kind == k && strings.Contains(t.sentTo, "@") { // what was sent by SMS has no link
			return t, nil
		}
	}
	return oneTimeToken{}, errLinkExpired.Becausef("a link of kind %s is not good for %s", t.kind, kind)
}

// candidate is an account and the kind of code that may have been sent for it.
type candidate struct {
	userID string
	kind   tokenType
}

// findCode finds the token whose code and address or number are given. For an unknown name a code is compared too,
// that of an account which does not exist, so that the answer takes the same time.
func (s *Service) findCode(ctx context.Context, v verifyRequest) (oneTimeToken, error) {
	to, candidates, err := s.codeCandidates(ctx, v)
	if err != nil {
		return oneTimeToken{}, err
	}
	refusal := error(errOTPExpired)
	for _, c := range candidates {
		t, err := s.checkCode(ctx, c.userID, c.kind, v.Token)
		if err == nil && t.sentTo == to {
			return t, nil
		}
		if err == nil {
			err = errOTPExpired.Becausef("the code was sent elsewhere")
		}
		if !errors.Is(err, errOTPExpired) {
			return oneTimeToken{}, err
		}
		refusal = err
	}
	return oneTimeToken{}, refusal
}

func (s *Service) codeCandidates(ctx context.Context, v verifyRequest) (to string, list []candidate, err error) {
	if v.Phone != "" {
		return s.phoneCandidates(ctx, v)
	}
	kinds, ok := linkKinds[v.Type]
	if !ok {
		return "", nil, errVerifyUnsupported.Becausef("type %q for an e-mail address", v.Type)
	}
	if to, err = normalizeEmail(v.Email); err != nil {
		return "", nil, err
	}
	id, err := s.userIDFor(ctx, login{email: to})
	if err != nil {
		return "", nil, err
	}
	for _, k := range kinds {
		if k != tokenEmailNew {
			list = append(list, candidate{id, k})
		}
	}
	if v.Type == verifyEmailChange {
		ids, err := usersChangingEmail(ctx, s.db, to)
		if err != nil {
			return "", nil, err
		}
		for _, id := range ids {
			list = append(list, candidate{id, tokenEmailNew})
		}
	}
	return to, list, nil
}

func (s *Service) phoneCandidates(ctx context.Context, v verifyRequest) (to string, list []candidate, err error) {
	if to, err = normalizePhone(v.Phone); err != nil {
		return "", nil, err
	}
	switch v.Type {
	case verifySMS:
		id, err := s.userIDFor(ctx, login{phone: to})
		return to, []candidate{{id, tokenConfirmation}, {id, tokenRecovery}}, err
	case verifyPhoneChange:
		ids, err := usersChangingPhone(ctx, s.db, to)
		for _, id := range ids {
			list = append(list, candidate{id, tokenPhoneChange})
		}
		if len(list) == 0 {
			list = []candidate{{uuid.NewSHA1(nobody, []byte(to)).String(), tokenPhoneChange}}
		}
		return to, list, err
	}
	return "", nil, errVerifyUnsupported.Becausef("type %q for a number", v.Type)
}

// nobody is the namespace of ids for names without an account.
var nobody = uuid.MustParse("5b0e9c3a-6f0d-4a53-9d27-1f6f5a0d8c11")

// userIDFor gives the account's id, or one that no account has.
func (s *Service) userIDFor(ctx context.Context, l login) (string, error) {
	u, err := s.account(ctx, l)
	if err == nil && u.ID == "" {
		return uuid.NewSHA1(nobody, []byte(l.email+l.phone)).String(), nil
	}
	return u.ID, err
}

// useToken does what a link or a code is good for and uses it up, in one transaction. toCode ends a PKCE flow.
func (s *Service) useToken(ctx context.Context, c client, t oneTimeToken, toCode bool) (v verified, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		v = verified{}
		u, err := lockUser(ctx, tx, t.userID)
		if errors.Is(err, db.ErrNoRows) {
			return errOTPExpired.Becausef("user %s is gone", t.userID)
		}
		if err != nil {
			return err
		}
		if u.banned(s.now()) {
			return errVerifyBanned.Becausef("user %s", u.ID)
		}
		if err := s.useUp(ctx, tx, t); err != nil {
			return err
		}
		if v.first, err = s.applyToken(ctx, tx, c, u, t); err != nil || v.first {
			return err
		}
		if toCode {
			if t.flowID == "" {
				return errFlowNotFound.Becausef("the link belongs to no flow")
			}
			v.authCode, err = s.issueAuthCode(ctx, tx, t.flowID, u.ID, "")
			return err
		}
		provider := "email"
		if !strings.Contains(t.sentTo, "@") {
			provider = "phone"
		}
		v.grant, err = s.startSession(ctx, tx, c, u.ID, signIn{method: "otp", provider: provider})
		return err
	})
	return v, err
}

// applyToken changes the account as the token says. It returns true after the first of two confirmations.
func (s *Service) applyToken(ctx context.Context, tx *db.Tx, c client, u User, t oneTimeToken) (first bool, err error) {
	elsewhere := errOTPExpired.Becausef("sent to what is no longer the account's")
	switch t.kind {
	case tokenConfirmation:
		return false, s.confirm(ctx, tx, c, u, t.sentTo, true)
	case tokenRecovery:
		return false, s.confirm(ctx, tx, c, u, t.sentTo, false)
	case tokenEmailCurrent, tokenEmailNew:
		if u.NewEmail == "" || t.kind == tokenEmailCurrent && t.sentTo != u.Email || t.kind == tokenEmailNew && t.sentTo != u.NewEmail {
			return false, elsewhere
		}
		if u.Email != "" && u.emailChangeStatus == 0 {
			return true, setUser(ctx, tx, u.ID, s.now(), change{colEmailChangeStatus, 1})
		}
		return false, s.finishEmailChange(ctx, tx, c, u)
	case tokenPhoneChange:
		if u.NewPhone == "" || t.sentTo != u.NewPhone {
			return false, elsewhere
		}
		return false, s.changePhone(ctx, tx, c, u, u.NewPhone)
	}
	return false, errOTPExpired.Becausef("a token of kind %s opens nothing", t.kind)
}

// confirm marks an address or a number as proven. What was there before (a password, providers' identities) stays only
// when bySignUp: a magic link, a code or a recovery proves it for whoever asked for it, which need not be who opened the
// account.
func (s *Service) confirm(ctx context.Context, tx *db.Tx, c client, u User, sentTo string, bySignUp bool) error {
	switch sentTo {
	case u.Email:
		return s.confirmEmail(ctx, tx, c, u, bySignUp)
	case u.Phone:
		return s.confirmPhone(ctx, tx, c, u, bySignUp)
	}
	return errOTPExpired.Becausef("sent to what is no longer the account's")
}

func (s *Service) confirmEmail(ctx context.Context, tx *db.Tx, c client, u User, bySignUp bool) error {
	if u.EmailConfirmedAt != nil {
		return nil
	}
	if !bySignUp && u.PhoneConfirmedAt == nil {
		err := s.disown(ctx, tx, u.ID)
		if err == nil {
			u, err = userByID(ctx, tx, u.ID)
		}
		if err != nil {
			return err
		}
	}
	now := s.now()
	err := setUser(ctx, tx, u.ID, now, change{colEmailConfirmed, now}, change{colUserMetadata, merged(u.UserMetadata, map[string]any{"email_verified": true})})
	if err != nil {
		return err
	}
	for _, i := range u.Identities {
		if i.Email == u.Email {
			if err := setIdentityData(ctx, tx, i.IdentityID, merged(i.IdentityData, map[string]any{"email_verified": true}), now); err != nil {
				return err
			}
		}
	}
	if _, ok := u.identityOf("email"); !ok && len(u.Identities) == 0 {
		if err := saveEmailIdentity(ctx, tx, u.ID, u.Email, now); err != nil {
			return err
		}
		if err := s.noteProviders(ctx, tx, u.ID); err != nil {
			return err
		}
	}
	if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenConfirmation, tokenRecovery); err != nil {
		return err
	}
	return s.audit(ctx, tx, c, auditEmailConfirmed, u.ID, nil)
}

func (s *Service) confirmPhone(ctx context.Context, tx *db.Tx, c client, u User, bySignUp bool) error {
	if u.PhoneConfirmedAt != nil {
		return nil
	}
	changes := []change{{colPhoneConfirmed, s.now()}}
	if !bySignUp && u.EmailConfirmedAt == nil {
		changes = append(changes, change{colPassword, nil})
	}
	if err := setUser(ctx, tx, u.ID, s.now(), changes...); err != nil {
		return err
	}
	if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenConfirmation, tokenRecovery); err != nil {
		return err
	}
	return s.audit(ctx, tx, c, auditPhoneConfirmed, u.ID, nil)
}

// finishEmailChange puts the new address in the place of the old one. What was sent to the old one is void.
func (s *Service) finishEmailChange(ctx context.Context, tx *db.Tx, c client, u User) error {
	now := s.now()
	facts := map[string]any{"email": u.NewEmail, "email_verified": true}
	err := setUser(ctx, tx, u.ID, now, change{colEmail, u.NewEmail}, change{colEmailConfirmed, now}, change{colEmailChange, nil}, change{colEmailChangeSent, nil},
		change{colEmailChangeStatus, 0}, change{colUserMetadata, merged(u.UserMetadata, facts)})
	if err != nil {
		return err
	}
	if i, ok := u.identityOf("email"); ok {
		err = setIdentityData(ctx, tx, i.IdentityID, merged(i.IdentityData, facts), now)
	} else {
		err = saveEmailIdentity(ctx, tx, u.ID, u.NewEmail, now)
	}
	if err != nil {
		return err
	}
	if err := s.noteProviders(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := deleteUnderWay(ctx, tx, u.ID); err != nil {
		return err
	}
	if u.Email != "" && u.EmailConfirmedAt != nil {
		if err := s.sendMail(ctx, tx, Mail{Kind: MailEmailChanged, To: u.Email, Language: languageFor(u, c), Device: c.userAgent, IP: c.ip}); err != nil {
			return err
		}
	}
	return s.audit(ctx, tx, c, auditEmailChanged, u.ID, nil)
}

// changePhone gives the account a number that was proven, or that needs no proof.
func (s *Service) changePhone(ctx context.Context, tx *db.Tx, c client, u User, phone string) error {
	now := s.now()
	err := setUser(ctx, tx, u.ID, now, change{colPhone, phone}, change{colPhoneConfirmed, now}, change{colPhoneChange, nil}, change{colPhoneChangeSent, nil})
	if err != nil {
		return err
	}
	facts := map[string]any{"phone": phone, "phone_verified": true}
	if i, ok := u.identityOf("phone"); ok {
		err = setIdentityData(ctx, tx, i.IdentityID, merged(i.IdentityData, facts), now)
	} else {
		facts["sub"] = u.ID
		err = saveIdentity(ctx, tx, u.ID, "phone", u.ID, facts, now)
	}
	if err != nil {
		return err
	}
	if err := s.noteProviders(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenPhoneChange); err != nil {
		return err
	}
	return s.audit(ctx, tx, c, auditPhoneChanged, u.ID, nil)
}
