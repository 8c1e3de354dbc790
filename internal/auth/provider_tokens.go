package auth

// providerTokens are what an identity provider gave for the account, sealed with the flow.
type providerTokens struct {
	Token        string `json:"provider_token,omitempty"`
	RefreshToken string `json:"provider_refresh_token,omitempty"`
}

// providerTokensPurpose binds the sealed tokens to their use.
const providerTokensPurpose = "provider tokens"
