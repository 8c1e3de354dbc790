package auth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file defines the errors that the authentication service sends, and writes them as JSON (WriteError). An error that Supabase Auth
// also has must have the same code and text here, because clients compare them.

var (
	// Sign-in, and malformed addresses and numbers. As in Supabase Auth, an unknown grant_type has the code invalid_credentials too.
	errUnsupportedGrant    = apperr.New(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
	errWeb3Disabled        = apperr.New(http.StatusUnprocessableEntity, "web3_provider_disabled", "Web3 provider is disabled")
	errInvalidCredentials  = apperr.New(http.StatusBadRequest, "invalid_credentials", "Invalid login credentials")
	errIdentifierMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "missing email or phone")
	errIdentifierAmbiguous = apperr.New(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on login.")
	errPhoneDisabled       = apperr.New(http.StatusUnprocessableEntity, "phone_provider_disabled", "Phone logins are disabled")
	errEmailNotConfirmed   = apperr.New(http.StatusBadRequest, "email_not_confirmed", "Email not confirmed")
	errPhoneNotConfirmed   = apperr.New(http.StatusBadRequest, "phone_not_confirmed", "Phone not confirmed")
	errEmailInvalid        = apperr.New(http.StatusBadRequest, "validation_failed", "Unable to validate email address: invalid format")
	errPhoneInvalid        = apperr.New(http.StatusBadRequest, "validation_failed", "Invalid phone number format (E.164 required)")

	// Tokens, sessions and limits.
	errRefreshTokenMalformed = apperr.New(http.StatusBadRequest, "validation_failed", "Refresh token is not valid")
	errRefreshTokenNotFound  = apperr.New(http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
	errRefreshTokenUsed      = apperr.New(http.StatusBadRequest, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
	errNoBearer              = apperr.New(http.StatusUnauthorized, "no_authorization", "This endpoint requires a valid Bearer token")
	errMissingSub            = apperr.New(http.StatusForbidden, "bad_jwt", "invalid claim: missing sub claim")
	errSubNotUUID            = apperr.New(http.StatusBadRequest, "bad_jwt", "invalid claim: sub claim must be a UUID")
	errSessionNotUUID        = apperr.New(http.StatusForbidden, "bad_jwt", "invalid claim: session_id claim must be a UUID")
	errUserNotFound          = apperr.New(http.StatusForbidden, "user_not_found", "User from sub claim in JWT does not exist")
	errSessionNotFound       = apperr.New(http.StatusForbidden, "session_not_found", "Session from session_id claim in JWT does not exist")
	errSessionExpired        = apperr.New(http.StatusBadRequest, "session_expired", "Invalid Refresh Token: Session Expired")
	errRateLimit             = apperr.New(http.StatusTooManyRequests, "over_request_rate_limit", "Request rate limit reached")
	errTimeout               = apperr.New(http.StatusGatewayTimeout, "request_timeout", "Processing this request timed out, please retry after a moment.")

	// Sign-up, addresses that are taken, and bans.
	errSignupDisabled        = apperr.New(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	errAnonymousDisabled     = apperr.New(http.StatusUnprocessableEntity, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
	errEmailExists           = apperr.New(http.StatusUnprocessableEntity, "email_exists", "A user with this email address has already been registered")
	errPhoneExists           = apperr.New(http.StatusUnprocessableEntity, "phone_exists", "A user with this phone number has already been registered")
	errUserAlreadyExists     = apperr.New(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
	errSignupPasswordMissing = apperr.New(http.StatusBadRequest, "validation_failed", "Signup requires a valid password")
	errUserBanned            = apperr.New(http.StatusBadRequest, "user_banned", "User is banned")

	// Links and codes.
	errOTPExpired  = apperr.New(http.StatusForbidden, "otp_expired", "Token has expired or is invalid")
	errLinkExpired = apperr.New(http.StatusForbidden, "otp_expired", "Email link is invalid or has expired")

	// Changes that need a proof (the current password, or the code that Reauthenticate has sent) or a second factor.
	errSamePassword    = apperr.New(http.StatusUnprocessableEntity, "same_password", "New password should be different from the old password.")
	errNonceRequired   = apperr.New(http.StatusBadRequest, "reauthentication_needed", "Password update requires reauthentication")
	errProofRequired   = apperr.New(http.StatusBadRequest, "reauthentication_needed", "This change requires reauthentication: the current password, or the nonce of GET /reauthenticate")
	errCurrentPassword = apperr.New(http.StatusBadRequest, "current_password_mismatch", "Current password is incorrect")
	errProofMissing    = apperr.New(http.StatusBadRequest, "validation_failed", "Reauthentication needs current_password or nonce")
	errReauthNotValid  = apperr.New(http.StatusUnprocessableEntity, "reauthentication_not_valid", "Nonce has expired or is invalid")
	errInsufficientAAL = apperr.New(http.StatusUnauthorized, "insufficient_aal", "AAL2 session is required to update email or password when MFA is enabled.")

	// PKCE flows.
	errBadCodeVerifier = apperr.New(http.StatusBadRequest, "bad_code_verifier", "code challenge does not match previously saved code verifier")
	errPKCEIncomplete  = apperr.New(http.StatusBadRequest, "validation_failed", "invalid request: both auth code and code verifier should be non-empty")
	errCodeChallenge   = apperr.New(http.StatusBadRequest, "validation_failed", "code challenge has to be between 43 and 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
	errChallengeMethod = apperr.New(http.StatusBadRequest, "validation_failed", "PKCE flow requires code_challenge_method and code_challenge parameters")
	errFlowNotFound    = apperr.New(http.StatusNotFound, "flow_state_not_found", "invalid flow state, no valid flow state found")
	errFlowExpired     = apperr.New(http.StatusUnprocessableEntity, "flow_state_expired", "invalid flow state, flow state has expired")

	// Calls with the service key.
	errNotAdmin      = apperr.New(http.StatusForbidden, "not_admin", "User not allowed")
	errUnknownUser   = apperr.New(http.StatusNotFound, "user_not_found", "User not found")
	errUserIDNotUUID = apperr.New(http.StatusNotFound, "validation_failed", "user_id must be an UUID")

	// OAuth providers.
	errIdentityExists          = apperr.New(http.StatusUnprocessableEntity, "identity_already_exists", "Identity is already linked")
	errProviderUnknown         = apperr.New(http.StatusBadRequest, "validation_failed", "Unsupported provider: provider is not enabled")
	errProviderNotSupported    = apperr.New(http.StatusBadRequest, "oauth_provider_not_supported", "Unsupported provider: provider is not enabled")
	errProviderDisabled        = apperr.New(http.StatusBadRequest, "provider_disabled", "Provider is not enabled")
	errProviderDown            = apperr.New(http.StatusServiceUnavailable, "unexpected_failure", "The identity provider does not respond, please try again later")
	errProviderCode            = apperr.New(http.StatusInternalServerError, "unexpected_failure", "Unable to exchange external code")
	errProviderRefused         = apperr.New(http.StatusForbidden, "bad_oauth_callback", "The identity provider refused the sign-in")
	errProviderEmailMissing    = apperr.New(http.StatusUnprocessableEntity, "validation_failed", "Error getting user email from external provider")
	errProviderEmailUnverified = apperr.New(http.StatusUnprocessableEntity, "provider_email_needs_verification", "Unverified email. A confirmation email has been sent to your email")
	errOAuthStateMissing       = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "OAuth state parameter missing")
	errOAuthCodeMissing        = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "OAuth callback with missing authorization code missing")
	errOAuthCallback           = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "OAuth callback could not be read")
	errOAuthState              = apperr.New(http.StatusBadRequest, "bad_oauth_state", "OAuth state not found or expired")
	errOAuthStateExpired       = apperr.New(http.StatusBadRequest, "bad_oauth_state", "OAuth state has expired")

	// ID tokens.
	errIDTokenMissing         = apperr.New(http.StatusBadRequest, "validation_failed", "id_token required")
	errIDTokenProviderMissing = apperr.New(http.StatusBadRequest, "validation_failed", "provider or client_id and issuer required")
	errIDTokenBad             = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "Bad ID token")
	errIDTokenAudience        = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "Unacceptable audience in id_token")
	errIDTokenNonceMissing    = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "Passed nonce and nonce in id_token should either both exist or not.")
	errIDTokenNonce           = apperr.New(http.StatusBadRequest, "bad_oauth_callback", "Nonces mismatch")

	// Adding and removing identities.
	errManualLinkingDisabled  = apperr.New(http.StatusNotFound, "manual_linking_disabled", "Manual linking is disabled")
	errLinkingUserNotFound    = apperr.New(http.StatusUnprocessableEntity, "user_not_found", "Linking target user not found")
	errLinkingAAL             = apperr.New(http.StatusUnauthorized, "insufficient_aal", "AAL2 session is required to add or remove an identity when MFA is enabled.")
	errLinkingEmailUnverified = apperr.New(http.StatusUnprocessableEntity, "email_not_confirmed", "Unverified email. A confirmation email has been sent to your email")
	errIdentityElsewhere      = apperr.New(http.StatusUnprocessableEntity, "identity_already_exists", "Identity is already linked to another user")
	errIdentityIDNotUUID      = apperr.New(http.StatusNotFound, "validation_failed", "identity_id must be an UUID")
	errIdentityNotFound       = apperr.New(http.StatusUnprocessableEntity, "identity_not_found", "Identity doesn't exist")
	errSingleIdentity         = apperr.New(http.StatusUnprocessableEntity, "single_identity_not_deletable", "User must have at least 1 identity after unlinking")
	errIdentityEmailConflict  = apperr.New(http.StatusUnprocessableEntity, "email_conflict_identity_not_deletable", "Unable to unlink identity due to email conflict")
	errMultipleAccounts       = apperr.New(http.StatusConflict, "conflict", "Multiple accounts with the same email address detected")

	errUnhealthy = apperr.New(http.StatusServiceUnavailable, "unexpected_failure", "The database does not respond")
)

// Errors of sign-up, links, codes and changes to the caller's own account.
var (
	errPhoneSignupDisabled       = apperr.New(http.StatusBadRequest, "phone_provider_disabled", "Phone signups are disabled")
	errPhoneOTPDisabled          = apperr.New(http.StatusBadRequest, "phone_provider_disabled", "Unsupported phone provider")
	errPhoneResendDisabled       = apperr.New(http.StatusBadRequest, "phone_provider_disabled", "Phone logins are disabled")
	errSignupIdentifierMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "Sign up only available with email or phone provider")
	errSignupAmbiguous           = apperr.New(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on signup.")
	errSignupPhonePKCE           = apperr.New(http.StatusBadRequest, "validation_failed", "PKCE not supported for phone signups")
	errChannel                   = apperr.New(http.StatusBadRequest, "validation_failed", "Invalid channel, supported values are 'sms' or 'whatsapp'")
	errChannelWithEmail          = apperr.New(http.StatusBadRequest, "validation_failed", "Channel should only be specified with Phone OTP")
	errOTPAmbiguous              = apperr.New(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided")
	errOTPIdentifierMissing      = apperr.New(http.StatusBadRequest, "validation_failed", "One of email or phone must be set")
	errMagicLinkEmailMissing     = apperr.New(http.StatusUnprocessableEntity, "validation_failed", "Password recovery requires an email")
	errRecoverEmailMissing       = apperr.New(http.StatusBadRequest, "validation_failed", "Password recovery requires an email")
	errResendType                = apperr.New(http.StatusBadRequest, "validation_failed", "Missing one of these types: signup, email_change, sms, phone_change")
	errResendNeedsEmail          = apperr.New(http.StatusBadRequest, "validation_failed", "Type provided requires an email address")
	errResendNeedsPhone          = apperr.New(http.StatusBadRequest, "validation_failed", "Type provided requires a phone number")
	errResendAmbiguous           = apperr.New(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided.")
	errResendIdentifierMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "Missing email address or phone number")
	errReauthIdentifierMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "Reauthentication requires the user to have an email or a phone number")
	errReauthEmailUnconfirmed    = apperr.New(http.StatusUnprocessableEntity, "email_not_confirmed", "Please verify your email first.")
	errReauthPhoneUnconfirmed    = apperr.New(http.StatusUnprocessableEntity, "phone_not_confirmed", "Please verify your phone first.")
	errVerifyType                = apperr.New(http.StatusBadRequest, "validation_failed", "Verify requires a verification type")
	errVerifyTokenMissing        = apperr.New(http.StatusBadRequest, "validation_failed", "Verify requires a token or a token hash")
	errVerifyAmbiguous           = apperr.New(http.StatusBadRequest, "validation_failed", "Verify requires either a token or a token hash")
	errVerifyIdentifierAmbiguous = apperr.New(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on verify")
	errVerifyHashAlone           = apperr.New(http.StatusBadRequest, "validation_failed", "Only the token_hash and type should be provided")
	errVerifyEmailType           = apperr.New(http.StatusBadRequest, "validation_failed", "Invalid email verification type")
	errVerifyUnsupported         = apperr.New(http.StatusBadRequest, "validation_failed", "Unsupported verification type")
	errAppDataNotAdmin           = apperr.New(http.StatusForbidden, "not_admin", "Updating app_metadata requires admin privileges")
	errSSOManaged                = apperr.New(http.StatusUnprocessableEntity, "user_sso_managed", "Updating email, phone, password of a SSO account only possible via SSO")
)

// Errors of the set-up link and of the command atelie owner, which Supabase Auth does not have.
var (
	errSetupIncomplete  = apperr.New(http.StatusBadRequest, "validation_failed", "token, email and password are required")
	errSetupLinkInvalid = apperr.New(http.StatusForbidden, "setup_link_invalid", "This set-up link is not valid: it has expired, or it was used already")
	errOwnerExists      = apperr.New(http.StatusConflict, "conflict", "There is an owner already")
	errNoSuchAccount    = apperr.New(http.StatusNotFound, "user_not_found", "No account has this e-mail address")
	errNotOwner         = apperr.New(http.StatusNotFound, "user_not_found", "This account is not an owner")
	errLastOwner        = apperr.New(http.StatusConflict, "conflict", "The last owner cannot be removed")
	errPasswordNeeded   = apperr.New(http.StatusBadRequest, "validation_failed", "A password is needed for a new account, and for one that has not confirmed its e-mail address")
)

// Errors of the calls that need the service key, and errors about bans and input that apply to every account.
var (
	errBanned                 = apperr.New(http.StatusForbidden, "user_banned", "User is banned")
	errRefreshBanned          = apperr.New(http.StatusBadRequest, "user_banned", "Invalid Refresh Token: User Banned")
	errAdminIdentifierMissing = apperr.New(http.StatusBadRequest, "validation_failed", "Cannot create a user without either an email or phone")
	errPasswordAndHash        = apperr.New(http.StatusBadRequest, "validation_failed", "Only a password or a password hash should be provided")
	errPasswordHash           = apperr.New(http.StatusBadRequest, "validation_failed", "The password hash must be a bcrypt or an argon2id hash of usual cost")
	errRoleFixed              = apperr.New(http.StatusBadRequest, "validation_failed", "role can only be authenticated: who administers is set by atelie owner")
	errCustomID               = apperr.New(http.StatusBadRequest, "validation_failed", "ID must conform to the uuid v4 format")
	errPagination             = apperr.New(http.StatusBadRequest, "validation_failed", "Bad Pagination Parameters: page and per_page must be whole numbers above 0")
	errSort                   = apperr.New(http.StatusBadRequest, "validation_failed", "Bad Sort Parameters: only created_at, asc or desc")
	errEmailNotFound          = apperr.New(http.StatusNotFound, "user_not_found", "User with this email not found")
	errUnstorableText         = apperr.New(http.StatusBadRequest, "validation_failed", "Texts must be UTF-8 without NUL")
)

// errInvalid returns the error for a value that is not valid, if its text contains the value or a limit.
func errInvalid(format string, args ...any) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "validation_failed", fmt.Sprintf(format, args...))
}

// errTooSoon returns the error for a mail or SMS that is requested before the cooldown of an earlier one has ended. Its text names
// the rest of the wait in seconds.
func errTooSoon(code string, wait time.Duration) *apperr.Error {
	seconds := int((wait + time.Second - 1) / time.Second)
	return apperr.New(http.StatusTooManyRequests, code, fmt.Sprintf("For security purposes, you can only request this after %d seconds.", seconds))
}

const (
	codeMailTooSoon = "over_email_send_rate_limit"
	codeSMSTooSoon  = "over_sms_send_rate_limit"
)

const codeWeakPassword = "weak_password"

// Errors of second factors (Supabase Auth's internal/api/mfa.go), and of recovery codes and the list of sessions, which
// Supabase Auth does not have.
var (
	errSessionRequired     = apperr.New(http.StatusForbidden, "session_not_found", "A session is needed for this; keys and tokens without one are refused")
	errFactorNotUUID       = apperr.New(http.StatusNotFound, "validation_failed", "factor_id must be an UUID")
	errFactorNotFound      = apperr.New(http.StatusNotFound, "mfa_factor_not_found", "Factor not found")
	errFactorType          = apperr.New(http.StatusBadRequest, "validation_failed", "factor_type needs to be totp, phone, or webauthn")
	errWebAuthnDisabled    = apperr.New(http.StatusUnprocessableEntity, "mfa_webauthn_enroll_not_enabled", "MFA enroll is disabled for WebAuthn")
	errPhoneEnrolDisabled  = apperr.New(http.StatusUnprocessableEntity, "mfa_phone_enroll_not_enabled", "MFA enroll is disabled for Phone")
	errPhoneVerifyDisabled = apperr.New(http.StatusUnprocessableEntity, "mfa_phone_verify_not_enabled", "MFA verification is disabled for Phone")
	errFactorPhoneMissing  = apperr.New(http.StatusBadRequest, "validation_failed", "Phone number required to enroll Phone factor")
	errFactorExists        = apperr.New(http.StatusUnprocessableEntity, "mfa_verified_factor_exists", "A verified phone factor already exists, unenroll the existing factor to continue")
	errTooManyFactors      = apperr.New(http.StatusUnprocessableEntity, "too_many_enrolled_mfa_factors", "Maximum number of verified factors reached, unenroll to continue")
	errEnrolAAL            = apperr.New(http.StatusForbidden, "insufficient_aal", "AAL2 required to enroll a new factor")
	errUnenrolAAL          = apperr.New(http.StatusUnprocessableEntity, "insufficient_aal", "AAL2 required to unenroll verified factor")
	errAAL2Needed          = apperr.New(http.StatusForbidden, "insufficient_aal", "AAL2 session is required: verify a second factor first")
	errFactorChannel       = apperr.New(http.StatusBadRequest, "validation_failed", "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.")
	errFactorCodeMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "Code needs to be non-empty")
	errChallengeNotFound   = apperr.New(http.StatusUnprocessableEntity, "mfa_factor_not_found", "MFA factor with the provided challenge ID not found")
	errChallengeIPMismatch = apperr.New(http.StatusUnprocessableEntity, "mfa_ip_address_mismatch", "Challenge and verify IP addresses mismatch.")
	errTOTPWrong           = apperr.New(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid TOTP code entered")
	errPhoneCodeWrong      = apperr.New(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid MFA Phone code entered")
	errRecoveryCodeWrong   = apperr.New(http.StatusUnprocessableEntity, "mfa_verification_failed", "Invalid recovery code entered")
	errRecoveryNoFactor    = apperr.New(http.StatusUnprocessableEntity, "mfa_factor_not_found", "Recovery codes need a verified second factor")
	errSessionIDNotUUID    = apperr.New(http.StatusNotFound, "validation_failed", "session_id must be an UUID")
	errNoSuchSession       = apperr.New(http.StatusNotFound, "session_not_found", "Session not found")
)

func errFactorName(name string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "mfa_factor_name_conflict", fmt.Sprintf("A factor with the friendly name %q for this user already exists", name))
}

func errChallengeExpired(id string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "mfa_challenge_expired", fmt.Sprintf("MFA challenge %s has expired, verify against another challenge or create a new challenge.", id))
}

var errAuditScope = apperr.New(http.StatusBadRequest, "validation_failed", "Invalid query scope: action:NAME and author:USER_ID are known")

// Errors of single sign-on by SAML.
var (
	errSAMLDisabled         = apperr.New(http.StatusNotFound, "saml_provider_disabled", "SAML 2.0 is disabled")
	errSSOProviderAmbiguous = apperr.New(http.StatusBadRequest, "validation_failed", "Only one of provider_id or domain supported")
	errSSOProviderMissing   = apperr.New(http.StatusBadRequest, "validation_failed", "A provider_id or domain needs to be provided")
	errSSOProviderID        = apperr.New(http.StatusBadRequest, "validation_failed", "provider_id must be an UUID")
	errSSOUnknown           = apperr.New(http.StatusNotFound, "sso_provider_not_found", "No such SSO provider")
	errSSOUnknownDomain     = apperr.New(http.StatusNotFound, "sso_provider_not_found", "No SSO provider assigned for this domain")
	errSSOProviderNotFound  = apperr.New(http.StatusNotFound, "sso_provider_not_found", "SSO Identity Provider not found")
	errSSOProviderDisabled  = apperr.New(http.StatusNotFound, "sso_provider_disabled", "SSO Provider is currently disabled")
	errSAMLIdPNotFound      = apperr.New(http.StatusNotFound, "saml_idp_not_found", "A SAML connection has not been established with this Identity Provider")
	errSAMLRelayNotFound    = apperr.New(http.StatusNotFound, "saml_relay_state_not_found", "SAML RelayState does not exist, try logging in again?")
	errSAMLRelayExpired     = apperr.New(http.StatusUnprocessableEntity, "saml_relay_state_expired", "SAML RelayState has expired. Try logging in again?")
	errSAMLRelayState       = apperr.New(http.StatusBadRequest, "validation_failed", "SAML RelayState is not a valid UUID or URL")
	errSAMLForm             = apperr.New(http.StatusBadRequest, "validation_failed", "The form could not be read")
	errSAMLMissing          = apperr.New(http.StatusBadRequest, "validation_failed", "SAMLResponse is missing")
	errSAMLAssertion        = apperr.New(http.StatusBadRequest, "validation_failed", "SAML Assertion is not valid")
	errSAMLStatus           = apperr.New(http.StatusBadRequest, "validation_failed", "The identity provider did not sign you in")
	errSAMLNoUserID         = apperr.New(http.StatusBadRequest, "saml_assertion_no_user_id", "SAML Assertion did not contain a persistent Subject Identifier attribute or Subject NameID uniquely identifying this user")
	errSAMLNoEmail          = apperr.New(http.StatusBadRequest, "saml_assertion_no_email", "SAML Assertion does not contain an email address")
	errSAMLMetadataFetch    = apperr.New(http.StatusBadRequest, "saml_metadata_fetch_failed", "The SAML Metadata could not be fetched from its URL")
	errSAMLMetadata         = apperr.New(http.StatusBadRequest, "validation_failed", "The SAML Metadata does not describe one identity provider with an HTTP-Redirect URL and a signing certificate")
	errSAMLEntityID         = apperr.New(http.StatusBadRequest, "saml_entity_id_mismatch", "SAML Metadata can be updated only if the EntityID matches for the provider")
	errSAMLIdPExists        = apperr.New(http.StatusUnprocessableEntity, "saml_idp_already_exists", "SAML Identity Provider with this EntityID already exists")
	errSSODomainExists      = apperr.New(http.StatusBadRequest, "sso_domain_already_exists", "SSO Domain is already assigned to an SSO identity provider")
	errSSOConflict          = apperr.New(http.StatusUnprocessableEntity, "conflict", "This resource_id is already assigned to an SSO identity provider")
	errSSOType              = apperr.New(http.StatusBadRequest, "validation_failed", "Only 'saml' supported for SSO provider type")
	errSSOTwoMetadata       = apperr.New(http.StatusBadRequest, "validation_failed", "Only one of metadata_xml or metadata_url needs to be set")
	errSSONoMetadata        = apperr.New(http.StatusBadRequest, "validation_failed", "Either metadata_xml or metadata_url must be set")
	errSSOMetadataURL       = apperr.New(http.StatusBadRequest, "validation_failed", "metadata_url is not a valid URL")
	errSSOMetadataNotHTTPS  = apperr.New(http.StatusBadRequest, "validation_failed", "metadata_url is not a HTTPS URL")
	errSSONameIDFormat      = apperr.New(http.StatusBadRequest, "validation_failed", "name_id_format must be persistent, emailAddress, transient or unspecified, as SAML writes them")
	errSSODomain            = apperr.New(http.StatusBadRequest, "validation_failed", "domains must be at most 200 names such as example.com")
	errSSOResourceID        = apperr.New(http.StatusBadRequest, "validation_failed", "resource_id must be a text of at most 255 characters")
	errSSOMapping           = apperr.New(http.StatusBadRequest, "validation_failed", "attribute_mapping must have at most 100 keys")
)

const (
	versionHeader = "X-Supabase-Api-Version"
	version2024   = "2024-01-01" // the version that changed the form of errors
)

// WriteError writes an error in one of Supabase Auth's two JSON forms. A request with the X-Supabase-Api-Version header
// 2024-01-01 or later gets the newer form, and that header in the response.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	code, message := e.Code, e.Message
	switch {
	case code == identity.ErrExpired.Code, code == identity.ErrBadToken.Code && e.Status == http.StatusUnauthorized:
		code = identity.ErrBadToken.Code
		message = "invalid JWT: unable to parse or verify signature, " + tokenFault(e)
	case code == httpx.ErrTooLarge.Code:
		code = "request_entity_too_large"
	case code == httpx.ErrNoDatabase.Code: // Supabase Auth has no code for an outage of the database
		code = "unexpected_failure"
	case code == errTimeout.Code:
		message = errTimeout.Message
	case code == "bad_request": // the body ended early
		code = httpx.ErrBadJSON.Code
	}
	body := map[string]any{}
	if wantsVersion2024(r) {
		w.Header().Set(versionHeader, version2024)
		body["code"], body["message"] = code, message
	} else {
		body["code"], body["error_code"], body["msg"] = e.Status, code, message
		if e.Status >= http.StatusInternalServerError {
			body["error_id"] = httpx.RequestID(r.Context())
		}
	}
	if e.Code == codeWeakPassword {
		body["weak_password"] = map[string]any{"reasons": strings.Split(e.Details, ",")}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Sb-Error-Code", code)
	_ = httpx.JSON(w, e.Status, body) // fails only when the caller has closed the connection
}

// tokenFault returns what is wrong with a token, in the words of the JWT library, as Supabase Auth does. Only the log gets
// further details, because they can contain internal errors, for example of the database.
func tokenFault(e *apperr.Error) string {
	for _, fault := range []error{jwt.ErrTokenMalformed, jwt.ErrTokenUnverifiable, jwt.ErrTokenSignatureInvalid} {
		if errors.Is(e, fault) {
			return fault.Error()
		}
	}
	for _, fault := range []error{jwt.ErrTokenExpired, jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued} {
		if errors.Is(e, fault) {
			return jwt.ErrTokenInvalidClaims.Error() + ": " + fault.Error()
		}
	}
	return jwt.ErrTokenInvalidClaims.Error()
}

// wantsVersion2024 reports whether the request asks for the API version 2024-01-01 or a later one.
func wantsVersion2024(r *http.Request) bool {
	version := r.Header.Get(versionHeader)
	_, err := time.Parse(time.DateOnly, version)
	return err == nil && version >= version2024
}
