package auth

import (
	"net/http"
	"strings"

	"atelie/internal/httpx"
)

// client describes the program that sent a request. Its values are needed for sessions, the audit log, mails and text messages.
type client struct {
	userAgent string // stored with the session and in the audit log
	ip        string // stored with the session and in the audit log
	language  string // language of messages to the caller: en or pt
}

const maxUserAgentBytes = 400 // a longer User-Agent is cut

// clientOf returns the client of a request. It removes from the User-Agent what PostgreSQL cannot store: invalid UTF-8 and NUL.
func clientOf(r *http.Request) client {
	agent := r.UserAgent()
	agent = agent[:min(len(agent), maxUserAgentBytes)]
	agent = strings.ToValidUTF8(agent, "")
	agent = strings.ReplaceAll(agent, "\x00", "")
	return client{userAgent: agent, ip: httpx.ClientIP(r.Context()), language: acceptedLanguage(r.Header.Get("Accept-Language"))}
}

// acceptedLanguage returns "en" or "pt": the first of these two languages in the header Accept-Language, or "en" if the header names
// neither. It ignores weights (such as q=0.8), because browsers send the languages in the order of preference.
func acceptedLanguage(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		switch tag = strings.ToLower(tag); {
		case tag == "pt", strings.HasPrefix(tag, "pt-"):
			return "pt"
		case tag == "en", strings.HasPrefix(tag, "en-"):
			return "en"
		}
	}
	return "en"
}

// languageOfLocale returns "pt" for a Portuguese locale such as pt-BR, and "en" for any other. Accounts can have a locale in their
// metadata.
func languageOfLocale(locale string) string {
	if l := strings.ToLower(locale); l == "pt" || strings.HasPrefix(l, "pt-") || strings.HasPrefix(l, "pt_") {
		return "pt"
	}
	return "en"
}

// deviceHash returns a hash that identifies a device (browser and system) of an account. It ignores the digits and dots of the
// User-Agent, so that the hash stays the same after a browser update.
func (c client) deviceHash(userID string) string {
	agent := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, c.userAgent)
	return hashKey(userID + "\n" + agent) // SHA-256 in hex
}
