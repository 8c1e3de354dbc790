package auth

import (
	"net/http"
	"strings"

	"atelie/internal/httpx"
)

// client describes the program that sent a request. Sessions and the audit log store userAgent and ip. language (en or pt) is
// the language of messages to the caller.
type client struct{ userAgent, ip, language string }

const maxUserAgent = 400 // bytes

// clientOf returns the client of a request, with a User-Agent that both databases can store.
func clientOf(r *http.Request) client {
	agent := r.UserAgent()
	agent = strings.ReplaceAll(strings.ToValidUTF8(agent[:min(len(agent), maxUserAgent)], ""), "\x00", "")
	return client{userAgent: agent, ip: httpx.ClientIP(r.Context()), language: acceptedLanguage(r.Header.Get("Accept-Language"))}
}

// acceptedLanguage returns the first of "en" and "pt" that Accept-Language names, or "en". It ignores weights, because
// browsers send the languages in the order of preference.
func acceptedLanguage(header string) string {
	for _, part := range strings.Split(header, ",") {
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

// baseLanguage returns "pt" for a Portuguese locale such as pt-BR, and "en" for any other.
func baseLanguage(locale string) string {
	if l := strings.ToLower(locale); l == "pt" || strings.HasPrefix(l, "pt-") || strings.HasPrefix(l, "pt_") {
		return "pt"
	}
	return "en"
}

// deviceHash returns a hash that identifies a device of an account. It ignores the digits and dots of the User-Agent, so that
// the device stays the same after a browser update.
func (c client) deviceHash(userID string) string {
	agent := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, c.userAgent)
	return hashToken(userID + "\n" + agent)
}
