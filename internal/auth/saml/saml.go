// Package saml is the SAML 2.0 service provider of the authentication service: metadata, requests and the judgement of
// answers. It knows XML and identity providers, not users, and keeps nothing.
//
// The checks of XML signatures are goxmldsig's. What is read of an answer is read from the bytes that a signature
// covered, never from the document that carried them: signature wrapping then finds nothing to move.
package saml

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of what is read from others.
const (
	MaxResponse = 512 << 10 // bytes of the encoded answer
	MaxMetadata = 2 << 20   // bytes
	maxDepth    = 40        // elements within elements
	maxTokens   = 200_000   // tags, texts and the like of one document
)

// Skew is how far the clocks of an identity provider and ours may be apart.
const Skew = time.Minute

// maxAge is how old an answer may be that states no earlier end of its own.
const maxAge = 10 * time.Minute

// The vocabulary of SAML 2.0 that this package speaks.
const (
	nsProtocol  = "urn:oasis:names:tc:SAML:2.0:protocol"
	nsAssertion = "urn:oasis:names:tc:SAML:2.0:assertion"
	nsXMLEnc    = "http://www.w3.org/2001/04/xmlenc#"
	nsXMLDSig   = "http://www.w3.org/2000/09/xmldsig#"

	statusSuccess = "urn:oasis:names:tc:SAML:2.0:status:Success"
	methodBearer  = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
)

// The formats of a name that can be asked for (SAML core §8.3).
const (
	NameIDPersistent  = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
	NameIDTransient   = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
	NameIDEmail       = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
	NameIDUnspecified = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
)

// ErrStatus is returned for an answer in which the identity provider itself says no.
var ErrStatus = errors.New("the identity provider refused the sign-in")

// ServiceProvider is our side: its addresses, and the key that signs requests and opens encrypted assertions.
type ServiceProvider struct {
	MetadataURL string // our entity id too
	ACSURL      string
	Key         *rsa.PrivateKey
	Certificate *x509.Certificate
}

// New makes the service provider whose endpoints lie under base, such as https://example.com/auth/v1/sso/saml.
func New(base string, key *rsa.PrivateKey, cert *x509.Certificate) *ServiceProvider {
	base = strings.TrimRight(base, "/")
	return &ServiceProvider{MetadataURL: base + "/metadata", ACSURL: base + "/acs", Key: key, Certificate: cert}
}

// Assertion is what an identity provider said about a person, after every check has passed.
type Assertion struct {
	ID           string // unique with its issuer; to be remembered until UsableUntil
	Issuer       string
	NameID       string
	NameIDFormat string
	SessionIndex string
	NotOnOrAfter time.Time // end of the session, zero when the provider sets none
	UsableUntil  time.Time // from then on the assertion is refused for its age alone
	Attributes   []Attribute
}

// Attribute is one statement about the person; its texts are trimmed.
type Attribute struct {
	Name, FriendlyName string
	Values             []string
}

func refuse(format string, args ...any) error { return fmt.Errorf("saml: "+format, args...) }
