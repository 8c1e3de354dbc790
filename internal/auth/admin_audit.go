package auth

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of the pages of the audit log.
const (
	auditPerPage    = 50        // entries on a page if the request has no per_page
	maxAuditPerPage = 1000      // largest per_page
	maxAuditPage    = 1_000_000 // highest page number
)

// auditLogEntry is one entry in the form of Supabase Auth's audit log. UserAgent is an addition to that form.
type auditLogEntry struct {
	ID        string       `json:"id"`
	Payload   auditPayload `json:"payload"`
	CreatedAt time.Time    `json:"created_at"`
	IPAddress string       `json:"ip_address"`
	UserAgent string       `json:"user_agent"`
}

// auditPayload is the content of an entry: what happened (Action, Traits), and which account did it or was changed (Actor).
type auditPayload struct {
	Action        string          `json:"action"`
	ActorID       *string         `json:"actor_id"`
	ActorUsername string          `json:"actor_username"`
	ActorViaSSO   bool            `json:"actor_via_sso"`
	LogType       string          `json:"log_type"`
	Traits        json.RawMessage `json:"traits"`
}

// AuditLog handles GET /auth/v1/admin/audit, for the service key only: the security events, newest first. Query parameters:
// page (from 1), per_page, and query=action:NAME or query=author:USER_ID as a filter.
func (s *Service) AuditLog(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	query := r.URL.Query()
	page, perPage, err := auditPages(query)
	if err != nil {
		return err
	}
	action, author, err := auditFilter(query.Get("query"))
	if err != nil {
		return err
	}
	entries, total, err := auditPage(r.Context(), s.db, action, author, perPage, (page-1)*perPage)
	if err != nil {
		return err
	}
	out := make([]auditLogEntry, len(entries))
	for i, e := range entries {
		out[i] = e.response()
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	w.Header().Set("Link", pageLinks(r.URL.Path, query, page, max(1, (total+perPage-1)/perPage)))
	return respondPrivate(w, out, nil)
}

func auditPages(query url.Values) (page, perPage int, err error) {
	page, perPage = 1, auditPerPage
	for name, field := range map[string]*int{"page": &page, "per_page": &perPage} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxAuditPage {
			return 0, 0, errBadPaging(name)
		}
		*field = max(1, n)
	}
	return page, min(perPage, maxAuditPerPage), nil
}

func auditFilter(query string) (action, author string, err error) {
	if query == "" {
		return "", "", nil
	}
	scope, value, ok := strings.Cut(query, ":")
	switch {
	case ok && scope == "action" && storable(value):
		return value, "", nil
	case ok && scope == "author":
		if author, ok = canonicalUUID(value); ok {
			return "", author, nil
		}
	}
	return "", "", errAuditScope
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// name returns the e-mail address of the account as it is now, or its number; "" if it has none or does not exist.
func (e auditEntry) name() string { return cmp.Or(text(e.email), text(e.phone)) }

func (e auditEntry) response() auditLogEntry {
	return auditLogEntry{
		ID: e.id, CreatedAt: e.createdAt, IPAddress: text(e.ip), UserAgent: text(e.agent),
		Payload: auditPayload{
			Action: e.action, ActorID: e.userID, ActorUsername: e.name(), ActorViaSSO: e.isSSO != nil && *e.isSSO,
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
	case auditFactorEnrolled, auditFactorUnenrolled, auditChallenge, auditFactorVerified, auditFactorRefused,
		auditFactorUpdated, auditFactorDeleted, auditRecoveryMade, auditRecoveryUsed, auditRecoveryRefused:
		return "factor"
	}
	return "user"
}
