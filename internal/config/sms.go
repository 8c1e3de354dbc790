package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// SMS contains the settings of the service that sends text messages with sign-in codes: a webhook, or a service with Twilio's API. The
// comment on Config explains the tags of the fields.
type SMS struct {
	HookURL       string `name:"sms-hook-url" env:"ATELIE_SMS_HOOK_URL" secret:"url" help:"URL of a webhook that sends the text messages; each call is signed (Standard Webhooks)."`
	HookSecret    string `name:"sms-hook-secret" env:"ATELIE_SMS_HOOK_SECRET" secret:"yes" help:"Key of the webhook's signature: v1,whsec_ and base64."`
	TwilioAccount string `name:"sms-twilio-account" env:"ATELIE_SMS_TWILIO_ACCOUNT" help:"Account at Twilio, or at a service with the same API."`
	TwilioToken   string `name:"sms-twilio-token" env:"ATELIE_SMS_TWILIO_TOKEN" secret:"yes" help:"Token of that account."`
	TwilioFrom    string `name:"sms-twilio-from" env:"ATELIE_SMS_TWILIO_FROM" help:"Sender of text messages: a number with +, or a messaging service (MG…)."`
	TwilioURL     string `name:"sms-twilio-url" env:"ATELIE_SMS_TWILIO_URL" default:"https://api.twilio.com" help:"Base URL of Twilio's API."`
}

// validate checks that at most one of the two services is set, and that its settings are complete. If required is true (the setting
// phone-enabled is on), one must be set.
func (s *SMS) validate(required bool) error {
	var (
		m         mistakes // collects the errors
		hasHook   = s.HookURL != "" || s.HookSecret != ""
		hasTwilio = s.TwilioAccount != "" || s.TwilioToken != "" || s.TwilioFrom != ""
	)
	m.addIf(hasHook && hasTwilio, "sms-hook-url: set either the hook or the Twilio account, not both")
	m.addIf(required && !hasHook && !hasTwilio, "phone-enabled: needs a sender of text messages (sms-hook-url or sms-twilio-account)")
	if hasHook {
		m.add(validateServiceURL("sms-hook-url", s.HookURL))
		key, ok := strings.CutPrefix(strings.TrimPrefix(s.HookSecret, "v1,"), "whsec_")
		raw, err := base64.StdEncoding.DecodeString(key)
		m.addIf(!ok || err != nil || len(raw) < 16, "sms-hook-secret: must be v1,whsec_ and at least 16 bytes in base64")
	}
	if hasTwilio {
		m.addIf(s.TwilioAccount == "" || s.TwilioToken == "" || s.TwilioFrom == "", "sms-twilio-account: account, token and from belong together")
		m.add(validateServiceURL("sms-twilio-url", s.TwilioURL))
	}
	return m.join()
}

// validateServiceURL checks the URL of a service to which sign-in codes are sent. Its scheme must be https, unless its host is this
// machine, a private IP address, or a name without a dot, which is a name in a local network.
func validateServiceURL(name, value string) error {
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.Fragment != "" {
		return fmt.Errorf("%s: must be a URL such as https://example.com/hook", name)
	}
	isLocalName := !strings.Contains(u.Hostname(), ".") && net.ParseIP(u.Hostname()) == nil
	if u.Scheme == "https" || isLocalName {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return nil
	}
	return fmt.Errorf("%s: must begin with https://, because codes would be sent unencrypted", name)
}
