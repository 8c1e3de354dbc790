package auth

import (
	"sync"
	"time"

	"atelie/internal/auth/oauth"
	"atelie/internal/auth/saml"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/jobs"
)

// Config holds the settings of the authentication service. Package app makes it from the operator's settings.
type Config struct {
	SiteURL      string   // public URL of the site, the default target of redirects
	APIURL       string   // public URL of the backend; APIURL/auth/v1 is the issuer of access tokens
	RedirectURLs []string // patterns (globs) of further allowed redirect targets
	Version      string   // version of the program, in the response of Health

	// Keys. They are derived from the site's current secret (the setting jwt-secret), and are the same on every node (server of the site).
	// RefreshKey and CodeKey have at least 32 bytes; SealKey has 32.
	RefreshKey []byte // key from which refresh tokens are derived
	CodeKey    []byte // key of the hashes of six-digit codes
	SealKey    []byte // key that seals (encrypts and authenticates) stored secrets, such as those of authenticator apps
	Previous   *Keys  // keys of the previous secret; they are still accepted. nil without a previous secret

	// Tokens and sessions.
	JWTExpiry time.Duration // lifetime of an access token
	ES256     bool          // true: ES256 and the stored key pairs sign access tokens; false: HS256 and the secret
	// RefreshReuse is how long a refresh token is still accepted after its first use. The predecessor of the current token is
	// accepted without this limit, because the client may not have received the current token.
	RefreshReuse time.Duration
	Sessions     SessionLimits

	// Ways to sign up and to sign in.
	SignupOpen    bool                       // anybody can create an account (without a role)
	PhoneEnabled  bool                       // accounts and second factors may use phone numbers
	SMSProvider   string                     // name of the SMS service, in the response of Settings
	Providers     map[string]*oauth.Provider // OAuth providers by name
	SAML          bool                       // single sign-on by SAML 2.0 is available
	ManualLinking bool                       // signed-in users may add and remove identities (accounts at providers)

	// Confirmation, passwords and second factors.
	MailAutoconfirm   bool // e-mail addresses count as confirmed without a mail
	PhoneAutoconfirm  bool // phone numbers count as confirmed without an SMS
	PasswordMinLength int  // minimum length of a new password in code points; at least 6
	PasswordReauth    bool // a new password needs a code, sent by mail or SMS, if the sign-in is more than a day ago
	// RequireSecondFactor gives owners (accounts with the role admin) their rights only after they have used a second factor. Before that an
	// owner has the rights of accounts without a role, and can enrol a factor. If RequireSecondFactor is false, only owners who have enrolled
	// a factor must use it.
	RequireSecondFactor bool

	// Limits.
	RateLimited     bool          // limits requests, messages and attempts at codes; second factors are always limited
	MailMinInterval time.Duration // minimum time between two mails of a kind to one e-mail address; 0: no limit
	MailsPerDay     int           // maximum number of mails of a kind to one e-mail address in a day; 0: no limit
	TextsPerDay     int           // maximum number of text messages of a kind to one phone number in a day; 0: no limit
	SMSMinInterval  time.Duration // minimum time between two SMS of a kind to one phone number; 0: no limit
	// MessageJitter is the maximum random delay of a message request (the job that sends a link or code to an address). The delay hides
	// that the job takes longer if the address has an account.
	MessageJitter time.Duration
}

// Keys are the three keys that are derived from one secret.
type Keys struct{ RefreshKey, CodeKey, SealKey []byte }

// Service handles the requests to /auth/v1.
type Service struct {
	db           *db.DB
	queue        *jobs.Queue      // the queue of jobs in the background, such as sending a mail
	tokens       *identity.Tokens // signs access tokens
	cfg          Config
	now          func() time.Time     // the clock
	hasher       *hasher              // hashes and checks passwords
	sealer       sealer               // seals stored secrets with Config.SealKey
	allowlist    redirectAllowlist    // the allowed targets of redirects
	samlProvider serviceProviderCache // this service as a SAML service provider
	users        userCache            // responses of GetUser
}

// SessionLimits are the times after which sessions expire; 0 means never. Idle counts from the newest refresh of the session's
// tokens, Max from the sign-in that opened the session.
type SessionLimits struct {
	Idle, Max           time.Duration // limits for accounts without a role
	OwnerIdle, OwnerMax time.Duration // limits for accounts with a role
}

// serviceProviderCache caches the SAML service provider, which is made from a stored key pair. Each use reads the key pair's row
// again, because a command or another node may have replaced it.
type serviceProviderCache struct {
	mu        sync.Mutex
	sealedKey string                // the stored private key from which sp was made
	sp        *saml.ServiceProvider // nil before the first use
}
