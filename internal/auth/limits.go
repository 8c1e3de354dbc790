package auth

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file limits two things: the requests of a client or about an account, and the messages to one e-mail address or phone number. Each
// kind of message has a quota (the maximum number of messages in a day). Most kinds also have a cooldown (the minimum time between two).

// limitWindow is the length of the fixed time windows in which limit counts requests. Each window begins with a count of 0.
const limitWindow = 5 * time.Minute

// limitName is the name of a limit in the table rate_limits. Nodes (running servers) of several versions can share that table, so a name
// must not change. Some names contain former terms: address (IP address), ask (request a message), confirm (reauthenticate).
type limitName string

const (
	limitSignIns           limitName = "auth sign-in address"
	limitAccountSignIns    limitName = "auth sign-in account"
	limitSetups            limitName = "auth set-up address"
	limitMessages          limitName = "auth ask address"
	limitVerifies          limitName = "auth verify address"
	limitAuthorizes        limitName = "auth authorize address"
	limitCallbacks         limitName = "auth callback address"
	limitSSOStarts         limitName = "auth sso address"
	limitACSRequests       limitName = "auth saml address"
	limitChanges           limitName = "auth change account"
	limitReauthentications limitName = "auth confirm account"
	limitCodes             limitName = "auth code account" // attempts at the one-time codes of an account
	limitEnrolments        limitName = "auth factor enrol"
	limitChallenges        limitName = "auth factor challenge"
	limitFactorMessages    limitName = "auth factor text"
	limitRecoveryCodeSets  limitName = "auth recovery codes"
	limitRecoveryTries     limitName = "auth recovery code"
)

// Maximum numbers of requests in limitWindow. PerIP means for each IPv4 address or IPv6 network (httpx.LimitSubject). There is no limit for
// the sign-ins to one account from all IP addresses together: anybody could exhaust it with wrong passwords, and the account's holder could
// not sign in.
const (
	signInsPerIP                 = 100
	signInsPerAccount            = 20  // sign-ins to one account from one IP address
	setupsPerIP                  = 20  // attempts to use a set-up link
	messagesPerIP                = 60  // requests for a mail or SMS, sign-ups included
	verifiesPerIP                = 100 // attempts to use a link or code
	changesPerAccount            = 20  // changes of the e-mail address or phone number
	factorMessagesPerAccount     = 10  // challenges of phone factors; each sends a text message
	recoveryTriesPerAccountAndIP = 20  // attempts at the recovery codes of one account from one IP address
	// factorCallsPerAccount is the limit for three things separately: enrolments, new sets of recovery codes, and challenges of TOTP factors.
	// Challenges are also counted for each IP address separately.
	factorCallsPerAccount = 100
)

// limit counts a request of the subject (an IP address, an account id, or a hash of both) against the limit with this name. If the
// subject has made more than maxRequests requests in the current window, limit returns errRateLimit and sets Retry-After to the seconds
// until the next window. It does nothing if Config.RateLimited is false.
func (s *Service) limit(w http.ResponseWriter, r *http.Request, name limitName, subject string, maxRequests int) error {
	if !s.cfg.RateLimited {
		return nil
	}
	return s.limitAlways(w, r, name, subject, maxRequests)
}

// limitPerIP is limit for the IP address of the client.
func (s *Service) limitPerIP(w http.ResponseWriter, r *http.Request, name limitName, maxRequests int) error {
	return s.limit(w, r, name, httpx.LimitSubject(r.Context()), maxRequests)
}

// limitAlways is limit, but it also works if Config.RateLimited is false.
func (s *Service) limitAlways(w http.ResponseWriter, r *http.Request, name limitName, subject string, maxRequests int) error {
	now := s.now()
	requests, err := s.db.Hit(r.Context(), string(name), subject, limitWindow, now)
	if err != nil {
		return err
	}
	if requests > maxRequests {
		window := int64(limitWindow / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(window-now.Unix()%window, 10))
		return errRateLimit.Becausef("%d attempts under %s", requests, name)
	}
	return nil
}

// cooldownKind is a kind of message that has a cooldown: the minimum time between two such messages to one e-mail address or
// phone number.
type cooldownKind string

const (
	cooldownConfirmation     cooldownKind = "confirmation"
	cooldownRecovery         cooldownKind = "recovery" // includes magic links and sign-in codes
	cooldownEmailChange      cooldownKind = "email_change"
	cooldownReauthentication cooldownKind = "reauthentication"
	cooldownSMS              cooldownKind = "sms"
	cooldownPhoneChange      cooldownKind = "phone_change"
)

// Kinds of text messages for second factors. They have a quota. In place of a cooldown, Factor.LastChallengedAt limits them.
const (
	factorEnrolment cooldownKind = "factor_enrolment" // a message to a number that the account has not confirmed yet
	factorSignIn    cooldownKind = "factor_sign_in"
)

// factorTextsMultiplier multiplies Config.TextsPerDay for the text messages of a verified second factor. Only somebody who knows the
// password can request them, and each sign-in needs one.
const factorTextsMultiplier = 5

// sentRecently reports whether a mail was sent less than MailMinInterval before now. at is when it was sent, or nil if none was. A
// time far ahead of now was written by a wrong clock and is ignored.
func (s *Service) sentRecently(at *time.Time, now time.Time) bool {
	return at != nil && now.Before(at.Add(s.cfg.MailMinInterval)) && !at.After(db.LatestPlausible(now, 0))
}

// startMessageCooldown starts the cooldown for a message to the subject (an e-mail address, a phone number or an account's id). It
// returns errTooSoon if the cooldown of an earlier message has not ended. It reads no accounts, so the result does not reveal
// whether an account exists.
func (s *Service) startMessageCooldown(ctx context.Context, kind cooldownKind, subject string) error {
	interval, code := s.cfg.MailMinInterval, codeMailTooSoon
	if kind == cooldownSMS || kind == cooldownPhoneChange {
		interval, code = s.cfg.SMSMinInterval, codeSMSTooSoon
	}
	if interval <= 0 {
		return nil
	}
	now, subject := s.now(), hashKey(subject)
	free, err := startCooldown(ctx, s.db, string(kind), subject, interval, now)
	if err != nil || free {
		return err
	}
	last, err := lastSent(ctx, s.db, string(kind), subject)
	if err != nil {
		return err
	}
	return errTooSoon(code, last.Add(interval).Sub(now))
}

const day = 24 * time.Hour

// quota is how many messages of a kind an address gets in a day, and how many of them without a wait. A plain limit per day would let
// anybody request all messages of a day within minutes, so that the account's holder would get none until the next day.
type quota struct {
	perDay, burst int    // perDay 0: no limit
	code          string // code of the error when no quota is left
}

// mailQuota spreads the mails of a day evenly. With the default of 28 a day, an interval is shorter than linkLife: while a stranger
// requests mails all day, the holder's mailbox always has a valid link.
func (s *Service) mailQuota() quota {
	return quota{s.cfg.MailsPerDay, max(1, s.cfg.MailsPerDay/8), codeMailTooSoon}
}

// textQuota has a larger burst than mailQuota, because every sign-in by phone needs a text message.
func textQuota(perDay int) quota { return quota{perDay, max(1, perDay*2/5), codeSMSTooSoon} }

// spendQuota takes one message of the kind from the quota of each e-mail address or phone number and returns 0. If one of them has
// no quota left, it takes nothing and returns how long to wait. The caller must prevent concurrent calls for an address, by the
// account's lock or by a cooldown.
func (s *Service) spendQuota(ctx context.Context, tx *db.Tx, kind cooldownKind, q quota, addresses ...string) (wait time.Duration, err error) {
	if !s.cfg.RateLimited || q.perDay <= 0 {
		return 0, nil
	}
	now := s.now()
	every := day / time.Duration(max(1, q.perDay-q.burst)) // after the burst, one message is allowed in each interval
	// The generic cell rate algorithm (GCRA) stores one time for each address: when its whole quota will be available again.
	fullAtAfter := map[string]time.Time{} // that time, after this mail
	for _, address := range addresses {
		fullAt, err := lastSent(ctx, tx, storedQuotaKind(kind), hashKey(address)) // the zero time if no message was sent yet
		if err = db.NoRowsAs(err, nil); err != nil {
			return 0, err
		}
		ahead := fullAt.Sub(now)
		if ahead < 0 || ahead > time.Duration(q.burst)*every { // too far ahead: written by a wrong clock
			fullAt, ahead = now, 0
		}
		wait = max(wait, ahead-time.Duration(q.burst-1)*every)
		fullAtAfter[address] = fullAt.Add(every)
	}
	if wait > 0 {
		return wait, nil
	}
	for address, fullAt := range fullAtAfter {
		if err := saveLastSent(ctx, tx, storedQuotaKind(kind), hashKey(address), fullAt); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// requireQuota is spendQuota, but it returns errTooSoon instead of a wait.
func (s *Service) requireQuota(ctx context.Context, tx *db.Tx, kind cooldownKind, q quota, addresses ...string) error {
	wait, err := s.spendQuota(ctx, tx, kind, q, addresses...)
	if err == nil && wait > 0 {
		err = errTooSoon(q.code, wait)
	}
	return err
}

// storedQuotaKind returns the kind under which auth_last_sent stores a quota. Stored rows have the prefix "allowance:", the former word
// for quota.
func storedQuotaKind(kind cooldownKind) string { return "allowance:" + string(kind) }
