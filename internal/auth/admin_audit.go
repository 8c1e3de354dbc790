package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Pages of the audit log.
const (
	auditPerPage    = 50
	maxAuditPerPage = 1000
	maxAuditPage    = 1_000_000
)

// auditBody is an entry in the form of Supabase Auth's audit log. The user agent is our addition.
type auditBody struct {
	ID        string       `json:"id"`
	Payload   auditPayload `json:"payload"`
	CreatedAt time.Time    `json:"created_at"`
	IPAddress string       `json:"ip_address"`
	UserAgent string       `json:"user_agent"`
}

type auditPayload struct {
	Action        string          `json:"action"`
	ActorID       *string         `json:"actor_id"`
	ActorUsername string          `json:"actor_username"`
	ActorViaSSO   bool            `json:"actor_via_sso"`
	LogType       string          `json:"log_type"`
	Traits        json.RawMessage `json:"traits"`
}

// AuditLog is GET /auth/v1/admin/audit: security events, the newest first, for the service key alone. page counts from
// 1; query=action:NAME and query=author:USER_ID select.
func (s *Service) AuditLog(w http.ResponseWriter, r *http.Request) error {
	if identity.Of(r.Context()).Role != identity.Service {
		return errNotAdmin
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
	out := make([]auditBody, len(entries))
	for i, e := range entries {
		out[i] = e.body()
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	w.Header().Set("Link", auditLinks(query, page, max(1, (total+perPage-1)/perPage)))
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, out)
}

func auditPages(query url.Values) (page, perPage int, err error) {
	page, perPage = 1, auditPerPage
	for name, at := range map[string]*int{"page": &page, "per_page": &perPage} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxAuditPage {
			return 0, 0, errBadPaging(name)
		}
		*at = max(1, n)
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

// auditLinks puts page first: the official client's reader of such headers wants it there.
func auditLinks(query url.Values, page, last int) string {
	rest := url.Values{}
	for name, values := range query {
		if name != "page" && name != "apikey" {
			rest[name] = values
		}
	}
	link := func(n int, rel string) string {
		target := "/auth/v1/admin/audit?page=" + strconv.Itoa(n)
		if len(rest) > 0 {
			target += "&" + rest.Encode()
		}
		return fmt.Sprintf(`<%s>; rel="%s"`, target, rel)
	}
	if page < last {
		return link(page+1, "next") + ", " + link(last, "last")
	}
	return link(last, "last")
}

func (e auditEntry) body() auditBody {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	name := text(e.email)
	if name == "" {
		name = text(e.phone)
	}
	return auditBody{
		ID: e.id, CreatedAt: e.createdAt, IPAddress: text(e.ip), UserAgent: text(e.agent),
		Payload: auditPayload{
			Action: e.action, ActorID: e.userID, ActorUsername: name, ActorViaSSO: e.isSSO != nil && *e.isSSO,
			LogType: logType(auditAction(e.action)), Traits: json.RawMessage(e.detail),
		},
	}
}

// logType groups actions as Supabase Auth does.
func logType(a auditAction) string {
	switch a {
	case auditSignIn, auditSignInRefused, auditSignOut:
		return "account"
	case auditTokenReuse:
		return "token"
	case auditUserCreated, auditUserDeleted:
		return "team"
	case auditFactorEnrolled, auditFactorUnenrolled, auditChallenge, auditFactorVerified, auditFactorRefused, auditRecoveryMade, auditRecoveryUsed, auditRecoveryRefused:
		return "factor"
	}
	return "user"
}
