package auth

import (
	"net/http"

	"atelie/internal/httpx"
)

// supabaseProviders are the names of Supabase Auth's providers. Clients expect all of them in the response of Settings.
var supabaseProviders = []string{
	"anonymous_users", "apple", "azure", "bitbucket", "discord", "facebook", "figma", "fly", "github", "gitlab", "google",
	"kakao", "keycloak", "linkedin", "linkedin_oidc", "notion", "slack", "slack_oidc", "snapchat", "spotify", "twitch",
	"twitter", "workos", "zoom", "email", "phone",
}

// settingsResponse is the response body of Settings, in Supabase Auth's form.
type settingsResponse struct {
	External                     map[string]bool `json:"external"` // by provider: whether users can sign in with it
	DisableSignup                bool            `json:"disable_signup"`
	MailerAutoconfirm            bool            `json:"mailer_autoconfirm"`
	PhoneAutoconfirm             bool            `json:"phone_autoconfirm"`
	SMSProvider                  string          `json:"sms_provider"`
	SAMLEnabled                  bool            `json:"saml_enabled"`
	SAMLPrivateKeyNextConfigured bool            `json:"saml_private_key_next_configured"` // always false: there is one SAML key pair
	PasskeysEnabled              bool            `json:"passkeys_enabled"`                 // always false: passkeys are not supported
}

// Settings handles GET /auth/v1/settings. Sign-in pages read from the response which ways to sign in are enabled. The response contains all
// of Supabase Auth's providers, and also configured providers with other names.
func (s *Service) Settings(w http.ResponseWriter, _ *http.Request) error {
	external := make(map[string]bool, len(supabaseProviders)+len(s.cfg.Providers))
	for _, name := range supabaseProviders {
		external[name] = name == "email" || (name == "phone" && s.cfg.PhoneEnabled)
	}
	for name := range s.cfg.Providers {
		external[name] = true
	}
	return httpx.JSON(w, http.StatusOK, settingsResponse{
		External: external, DisableSignup: !s.cfg.SignupOpen, MailerAutoconfirm: s.cfg.MailAutoconfirm, PhoneAutoconfirm: s.cfg.PhoneAutoconfirm,
		SMSProvider: s.cfg.SMSProvider, SAMLEnabled: s.cfg.SAML,
	})
}
