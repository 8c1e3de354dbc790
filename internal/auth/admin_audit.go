package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file handles GET /auth/v1/admin/audit: it sends the audit log (what happened to accounts) in the JSON format of Supabase Auth.

// Limits of the pages in which the audit log is sent.
const (
	defaultAuditPerPage  = 50        // entries on a page if the request has no per_page
	maxAuditPerPage      = 1000      // a larger per_page is reduced to this number
	maxAuditPagingNumber = 1_000_000 // a page or per_page above this number is an error
)

// auditLogEntry is an entry of the audit log in Supabase Auth's format. UserAgent is an addition to this format.
type auditLogEntry struct {
	ID        string       `json:"id"`
	Payload   auditPayload `json:"payload"`
	CreatedAt time.Time    `json:"created_at"`
	IPAddress string       `json:"ip_address"`
	UserAgent string       `json:"user_agent"`
}

// auditPayload says what happened (an auditAction), and to which account. Supabase calls this account the actor, even if the service key
// (the API key with the role service_role) made the change.
type auditPayload struct {
	Action        string          `json:"action"`
	ActorID       *string         `json:"actor_id"`       // null when the entry has no account
	ActorUsername string          `json:"actor_username"` // the account's e-mail address or phone number
	ActorViaSSO   bool            `json:"actor_via_sso"`  // the account signs in at a SAML identity provider (single sign-on)
	LogType       string          `json:"log_type"`       // group to which Supabase Auth assigns the action
	Traits        json.RawMessage `json:"traits"`         // JSON object with details of the event, such as the way of signing in
}

// AuditLog handles GET /auth/v1/admin/audit, and requires the service key. It returns a page of the audit log, newest entries first.
// Query parameters: page (from 1), per_page, and query=action:NAME or query=author:USER_ID as a filter.
func (s *Service) AuditLog(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	query := r.URL.Query()
	page, perPage, err := parseAuditPaging(query)
	if err != nil {
		return err
	}
	action, author, err := parseAuditFilter(query.Get("query"))
	if err != nil {
		return err
	}
	entries, total, err := auditPage(r.Context(), s.db, action, author, perPage, (page-1)*perPage)
	if err != nil {
		return err
	}
	out := make([]auditLogEntry, len(entries))
	for i, e := range entries {
		out[i] = e.toLogEntry()
	}
	lastPage := max(1, (total+perPage-1)/perPage)
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	w.Header().Set("Link", pageLinks(r.URL.Path, query, page, lastPage))
	return respondPrivate(w, out, nil)
}

// parseAuditPaging returns the page and per_page parameters. It treats 0 as 1, and reduces per_page to maxAuditPerPage.
func parseAuditPaging(query url.Values) (page, perPage int, err error) {
	page, perPage = 1, defaultAuditPerPage
	for name, field := range map[string]*int{"page": &page, "per_page": &perPage} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxAuditPagingNumber {
			return 0, 0, errInvalid("Bad Pagination Parameters: %s must be a number from 1", name)
		}
		*field = max(1, n)
	}
	return page, min(perPage, maxAuditPerPage), nil
}

// parseAuditFilter parses the query parameter. It returns an action or the id of an account; both are "" without a filter.
func parseAuditFilter(query string) (action, author string, err error) {
	if query == "" {
		return "", "", nil
	}
	scope, value, ok := strings.Cut(query, ":")
	switch {
	case ok && scope == "action" && isStorableText(value):
		return value, "", nil
	case ok && scope == "author":
		if author, ok = canonicalUUID(value); ok {
			return "", author, nil
		}
	}
	return "", "", errAuditScope
}

func (e auditEntry) toLogEntry() auditLogEntry {
	return auditLogEntry{
		ID: e.id, CreatedAt: e.createdAt, IPAddress: e.ip, UserAgent: e.userAgent,
		Payload: auditPayload{
			Action: e.action, ActorID: e.userID, ActorUsername: e.name, ActorViaSSO: e.isSSO != nil && *e.isSSO,
			LogType: logType(auditAction(e.action)), Traits: json.RawMessage(e.detail),
		},
	}
}

// logType returns the group to which Supabase Auth assigns an action.
func logType(a auditAction) string {
	switch a {
	case auditSignIn, auditSignInRefused, auditSignOut:
		return "account"
	case auditTokenRefreshed, auditTokenRevoked:
		return "token"
	case auditSignedUp, auditUserInvited, auditUserDeleted:
		return "team"
	case auditFactorEnrolled, auditFactorUnenrolled, auditChallengeCreated, auditFactorVerified, auditFactorRefused,
		auditFactorUpdated, auditFactorDeleted, auditRecoveryCodesMade, auditRecoveryCodeUsed, auditRecoveryCodeRefused:
		return "factor"
	}
	return "user"
}
