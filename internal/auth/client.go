package auth

import (
	"net/http"
	"strings"

	"atelie/internal/httpx"
)

// clientInfo describes the client that sent a request. Sessions and audit entries store userAgent and ip.
type clientInfo struct {
	userAgent string
	ip        string
	language  string // en or pt: the language of mails and text messages, unless the account's metadata has one
}

const maxUserAgentBytes = 400 // a longer User-Agent is truncated

// clientOf returns the clientInfo of a request. It removes from the User-Agent what PostgreSQL cannot store: invalid UTF-8 and NUL.
func clientOf(r *http.Request) clientInfo {
	agent := r.UserAgent()
	agent = agent[:min(len(agent), maxUserAgentBytes)]
	agent = strings.ToValidUTF8(agent, "")
	agent = strings.ReplaceAll(agent, "\x00", "")
	return clientInfo{userAgent: agent, ip: httpx.ClientIP(r.Context()), language: acceptedLanguage(r.Header.Get("Accept-Language"))}
}

// acceptedLanguage returns "en" or "pt": the first of these two languages in the Accept-Language header, or "en" if the header names
// neither of them. It ignores weights (such as q=0.8), because browsers send the languages in the order of preference.
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
func (c clientInfo) deviceHash(userID string) string {
	agent := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, c.userAgent)
	return hashKey(userID + "\n" + agent) // SHA-256 in hex
}
