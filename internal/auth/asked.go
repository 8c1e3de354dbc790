package auth

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/jobs"
)

// jobAsked is what strangers ask to be sent: links and codes for an address or a number. The request only checks its
// form, takes its turn and writes this job down; whether there is an account is looked at afterwards. So the answer
// and its time are the same for known and unknown addresses.
const jobAsked = "auth.asked"

// asked is the payload of jobAsked.
type asked struct {
	Kind       askedKind      `json:"kind"`
	Email      string         `json:"email,omitempty"`
	Phone      string         `json:"phone,omitempty"`
	Channel    string         `json:"channel,omitempty"`
	Data       map[string]any `json:"data,omitempty"`   // of an account that is to be made
	Create     bool           `json:"create,omitempty"` // make an account when there is none
	Challenge  challenge      `json:"challenge"`
	RedirectTo string         `json:"redirect_to,omitempty"`
	UserAgent  string         `json:"user_agent,omitempty"`
	IP         string         `json:"ip,omitempty"`
	Language   string         `json:"language,omitempty"`
}

type askedKind string

const (
	askedConfirmation askedKind = "confirmation"
	askedSignIn       askedKind = "sign_in" // magic link and code, or SMS
	askedRecovery     askedKind = "recovery"
	askedEmailChange  askedKind = "email_change"
	askedPhoneChange  askedKind = "phone_change"
)

func (a asked) client() client {
	return client{userAgent: a.UserAgent, ip: a.IP, language: a.Language}
}

// Events of links, codes and changes to an account, for the audit log.
const (
	auditSignUpRepeated auditAction = "sign_up_repeated"
	auditSMSSent        auditAction = "sms_requested"
	auditPhoneConfirmed auditAction = "phone_confirmed"
	auditPhoneChanged   auditAction = "phone_changed"
)

// turn names what one address or number may ask for once in an interval.
type turn string

const (
	turnConfirmation turn = "confirmation"
	turnRecovery     turn = "recovery" // magic links share it
	turnEmailChange  turn = "email_change"
	turnReauth       turn = "reauthentication"
	turnSMS          turn = "sms"
	turnPhoneChange  turn = "phone_change"
)

// Requests that make a message leave, and tries at links and codes, within limitWindow.
const (
	asksPerAddress     = 60
	verifiesPerAddress = 100
	changesPerAccount  = 20
)

func (t turn) bySMS() bool { return t == turnSMS || t == turnPhoneChange }

// takeTurn lets a message of the kind leave for the subject (an address, a number, or an account's id) unless one
// left within the interval. It does not look at accounts.
func (s *Service) takeTurn(ctx context.Context, q db.Querier, kind turn, subject string) error {
	interval, code := s.cfg.MailMinInterval, codeMailTooSoon
	if kind.bySMS() {
		interval, code = s.cfg.SMSMinInterval, codeSMSTooSoon
	}
	if interval <= 0 {
		return nil
	}
	now, subject := s.now(), hashToken(subject)
	free, err := takeTurn(ctx, q, string(kind), subject, now.Add(-interval), now)
	if err != nil || free {
		return err
	}
	last, err := lastTurn(ctx, q, string(kind), subject)
	if err != nil {
		return err
	}
	return errTooSoon(code, last.Add(interval).Sub(now))
}

// ask writes down what is to be sent, after the caller's turn was taken, and answers alike whatever comes of it.
func (s *Service) ask(w http.ResponseWriter, r *http.Request, kind turn, a asked) error {
	ctx := r.Context()
	if err := s.limit(w, r, "auth ask address", httpx.LimitSubject(ctx), asksPerAddress); err != nil {
		return err
	}
	if err := s.takeTurn(ctx, s.db, kind, a.Email+a.Phone); err != nil {
		return err
	}
	if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return s.enqueueAsked(ctx, tx, r, a) }); err != nil {
		return err
	}
	return answerNothing(w)
}

func (s *Service) enqueueAsked(ctx context.Context, tx *db.Tx, r *http.Request, a asked) error {
	c := clientOf(r)
	a.UserAgent, a.IP, a.Language = c.userAgent, c.ip, c.language
	if a.Email != "" {
		a.RedirectTo = s.redirectTarget(askedRedirect(r))
	}
	return s.queue.Enqueue(ctx, tx, jobAsked, a)
}

// answerNothing is the answer to everything that may or may not have sent something.
func answerNothing(w http.ResponseWriter) error {
	return httpx.JSON(w, http.StatusOK, struct{}{})
}

// sendAsked does what jobAsked asks for, in one transaction. Without an account, or with one that has no need of the
// message, nothing happens.
func (s *Service) sendAsked(ctx context.Context, payload []byte) error {
	var a asked
	if err := json.Unmarshal(payload, &a); err != nil {
		return jobs.Permanent(err)
	}
	// The work differs for known and unknown names, and slows whatever runs beside it: at a moment that nobody can tell
	// beforehand, the next answers give nothing away.
	if s.cfg.AskPause > 0 {
		select {
		case <-time.After(rand.N(s.cfg.AskPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := s.sendAskedOnce(ctx, a)
	if errors.Is(err, errEmailExists) || errors.Is(err, errPhoneExists) {
		err = s.sendAskedOnce(ctx, a) // somebody opened the account in the meantime
	}
	if refusal := (*apperr.Error)(nil); errors.As(err, &refusal) {
		return jobs.Permanent(err) // another try would be refused as well
	}
	return err
}

func (s *Service) sendAskedOnce(ctx context.Context, a asked) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		u, err := s.accountAskedFor(ctx, tx, a)
		if errors.Is(err, db.ErrNoRows) {
			if !a.Create {
				return nil
			}
			n := newAccount{email: a.Email, phone: a.Phone, data: a.Data, confirmed: a.Email != "" && s.cfg.MailAutoconfirm || a.Phone != "" && s.cfg.PhoneAutoconfirm}
			if u, err = s.openAccount(ctx, tx, a.client(), n); err != nil {
				return err
			}
			if !n.confirmed {
				a.Kind = askedConfirmation
			}
		}
		if err != nil {
			return err
		}
		if u, err = lockUser(ctx, tx, u.ID); err != nil {
			return err
		}
		switch {
		case u.isSSO:
			return nil // signs in at its identity provider
		case a.Phone != "" && a.Kind == askedPhoneChange:
			if u.NewPhone == "" {
				return nil
			}
			return s.sendPhoneChange(ctx, tx, a.client(), u, u.NewPhone, a.Channel)
		case a.Phone != "":
			if a.Kind == askedConfirmation && u.PhoneConfirmedAt != nil {
				return nil
			}
			return s.sendPhoneCode(ctx, tx, a, u)
		case a.Kind == askedConfirmation:
			if u.EmailConfirmedAt != nil {
				return nil
			}
			return s.sendConfirmation(ctx, tx, a.client(), u, a.Challenge, a.RedirectTo)
		case a.Kind == askedEmailChange:
			if u.NewEmail == "" {
				return nil
			}
			return s.sendEmailChange(ctx, tx, a.client(), u, u.NewEmail, a.Challenge, a.RedirectTo)
		default:
			return s.sendSignIn(ctx, tx, a, u)
		}
	})
}

// accountAskedFor finds the account by its address or number; a number also by the change to it that is pending.
func (s *Service) accountAskedFor(ctx context.Context, tx *db.Tx, a asked) (User, error) {
	if a.Email != "" {
		return userByEmail(ctx, tx, a.Email)
	}
	u, err := userByPhone(ctx, tx, a.Phone)
	if !errors.Is(err, db.ErrNoRows) || a.Kind != askedPhoneChange {
		return u, err
	}
	ids, err := usersChangingPhone(ctx, tx, a.Phone)
	if err != nil {
		return User{}, err
	}
	if len(ids) == 0 {
		return User{}, db.ErrNoRows
	}
	return userByID(ctx, tx, ids[0])
}

// mailFlow keeps the PKCE flow of a link, when the client wants one.
func (s *Service) mailFlow(ctx context.Context, tx *db.Tx, method string, c challenge, redirectTo string) (flowID string, err error) {
	f, err := s.startFlow(ctx, tx, flowState{authMethod: method, provider: "email", redirectTo: redirectTo}, c, "")
	return f.id, err
}

// sendConfirmation mails the link and code that prove a new account's address.
func (s *Service) sendConfirmation(ctx context.Context, tx *db.Tx, c client, u User, ch challenge, redirectTo string) error {
	flow, err := s.mailFlow(ctx, tx, "email/signup", ch, redirectTo)
	if err != nil {
		return err
	}
	secret, err := s.issueToken(ctx, tx, u.ID, tokenConfirmation, u.Email, flow, confirmLife)
	if err != nil {
		return err
	}
	if err := setUser(ctx, tx, u.ID, s.now(), change{colConfirmationSent, s.now()}); err != nil {
		return err
	}
	if err := s.audit(ctx, tx, c, auditMailSent, u.ID, map[string]any{"kind": MailConfirmation}); err != nil {
		return err
	}
	return s.sendMail(ctx, tx, Mail{
		Kind: MailConfirmation, To: u.Email, Language: languageFor(u, c), Code: secret.Code, Link: s.verifyLink(secret.Link, "signup", redirectTo),
	})
}

// sendSignIn mails the link and code of a magic link or of a recovery; an account has one of the two at a time.
func (s *Service) sendSignIn(ctx context.Context, tx *db.Tx, a asked, u User) error {
	kind, name, c := MailMagicLink, "magiclink", a.client()
	if a.Kind == askedRecovery {
		kind, name = MailRecovery, "recovery"
	}
	flow, err := s.mailFlow(ctx, tx, name, a.Challenge, a.RedirectTo)
	if err != nil {
		return err
	}
	secret, err := s.issueToken(ctx, tx, u.ID, tokenRecovery, u.Email, flow, linkLife)
	if err != nil {
		return err
	}
	if err := setUser(ctx, tx, u.ID, s.now(), change{colRecoverySent, s.now()}); err != nil {
		return err
	}
	if err := s.audit(ctx, tx, c, auditMailSent, u.ID, map[string]any{"kind": kind}); err != nil {
		return err
	}
	return s.sendMail(ctx, tx, Mail{
		Kind: kind, To: u.Email, Language: languageFor(u, c), Code: secret.Code, Link: s.verifyLink(secret.Link, name, a.RedirectTo),
	})
}

// sendEmailChange mails a link and a code to the new address and, when the account has one, to the current address:
// both must agree.
func (s *Service) sendEmailChange(ctx context.Context, tx *db.Tx, c client, u User, address string, ch challenge, redirectTo string) error {
	flow, err := s.mailFlow(ctx, tx, "email_change", ch, redirectTo)
	if err != nil {
		return err
	}
	now := s.now()
	err = setUser(ctx, tx, u.ID, now, change{colEmailChange, address}, change{colEmailChangeSent, now}, change{colEmailChangeStatus, 0})
	if err != nil {
		return err
	}
	if err := s.audit(ctx, tx, c, auditMailSent, u.ID, map[string]any{"kind": MailEmailChange}); err != nil {
		return err
	}
	send := func(token tokenType, kind MailKind, to string) error {
		secret, err := s.issueToken(ctx, tx, u.ID, token, to, flow, confirmLife)
		if err != nil {
			return err
		}
		return s.sendMail(ctx, tx, Mail{
			Kind: kind, To: to, NewEmail: address, Language: languageFor(u, c), Code: secret.Code, Link: s.verifyLink(secret.Link, "email_change", redirectTo),
		})
	}
	if u.Email != "" {
		if err := send(tokenEmailCurrent, MailEmailChange, u.Email); err != nil {
			return err
		}
	}
	return send(tokenEmailNew, MailEmailChangeNew, address)
}

// sendPhoneCode texts the code that signs in and proves a number.
func (s *Service) sendPhoneCode(ctx context.Context, tx *db.Tx, a asked, u User) error {
	kind := tokenRecovery
	if a.Kind == askedConfirmation {
		kind = tokenConfirmation
	}
	return s.sendCode(ctx, tx, a.client(), u, kind, u.Phone, "sms", a.Channel, change{colConfirmationSent, s.now()})
}

// sendPhoneChange texts a code to the number that is to take the place of the account's.
func (s *Service) sendPhoneChange(ctx context.Context, tx *db.Tx, c client, u User, phone, channel string) error {
	return s.sendCode(ctx, tx, c, u, tokenPhoneChange, phone, "phone_change", channel, change{colPhoneChange, phone}, change{colPhoneChangeSent, s.now()})
}

func (s *Service) sendCode(ctx context.Context, tx *db.Tx, c client, u User, kind tokenType, phone, name, channel string, changes ...change) error {
	secret, err := s.issueToken(ctx, tx, u.ID, kind, phone, "", codeLife)
	if err != nil {
		return err
	}
	if err := setUser(ctx, tx, u.ID, s.now(), changes...); err != nil {
		return err
	}
	if err := s.audit(ctx, tx, c, auditSMSSent, u.ID, map[string]any{"kind": name}); err != nil {
		return err
	}
	return s.sendSMS(ctx, tx, SMS{UserID: u.ID, Phone: phone, Code: secret.Code, Type: name, Channel: channel, Language: languageFor(u, c)})
}

// checkChannel gives the way in which a code reaches a phone; errChannel for an unknown one.
func checkChannel(channel string) (string, error) {
	switch channel {
	case "":
		return "sms", nil
	case "sms", "whatsapp":
		return channel, nil
	}
	return "", errChannel.Becausef("%q", channel)
}

// phoneOf reads a number; disabled is the refusal while phones are not in use (READING §3.33).
func (s *Service) phoneOf(number string, disabled *apperr.Error) (string, error) {
	if !s.cfg.PhoneEnabled {
		return "", disabled
	}
	return normalizePhone(number)
}

// checkData refuses data that cannot be kept before anything is done with it.
func checkData(data map[string]any) error {
	_, err := metadata(data)
	return err
}

// pointerTo helps with times that may be unset.
func pointerTo(t time.Time) *time.Time { return &t }
