// Package saml is the SAML 2.0 part of the authentication service (Security Assertion Markup Language). With SAML, users sign in at an
// identity provider, such as the server of their company. The identity provider then sends a response to a service provider. An assertion
// in the response states who has signed in.
// This package is the service provider: it creates metadata and authentication requests, and checks responses. It does not depend on the
// site's accounts or a database.
//
// Package goxmldsig checks the XML signatures. After that, values are read only from the bytes that the signature covers, never from
// the surrounding document. So an attacker gains nothing by adding elements beside the signed ones (signature wrapping).
package saml

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of documents from identity providers.
const (
	MaxResponse = 512 << 10 // bytes of a response in base64
	MaxMetadata = 2 << 20   // bytes of metadata
	maxDepth    = 40        // levels of nested elements
	maxTokens   = 200_000   // tags, texts and other parts of one document
)

// Skew is the maximum accepted difference between the clocks of an identity provider and this server.
const Skew = time.Minute

// maxAge is how old a response or an assertion may be. An assertion can itself state that it expires earlier.
const maxAge = 10 * time.Minute

// Namespaces and values of SAML 2.0.
const (
	nsProtocol  = "urn:oasis:names:tc:SAML:2.0:protocol"
	nsAssertion = "urn:oasis:names:tc:SAML:2.0:assertion"
	nsXMLEnc    = "http://www.w3.org/2001/04/xmlenc#"
	nsXMLDSig   = "http://www.w3.org/2000/09/xmldsig#"

	statusSuccess = "urn:oasis:names:tc:SAML:2.0:status:Success"
	methodBearer  = "urn:oasis:names:tc:SAML:2.0:cm:bearer" // method of a SubjectConfirmation: whoever presents the assertion is its subject
)

// NameID formats that can be requested (SAML core §8.3). The NameID is the provider's name or id of the user.
const (
	NameIDPersistent  = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
	NameIDTransient   = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
	NameIDEmail       = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
	NameIDUnspecified = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
)

// ErrStatus is returned for a response whose status is not success: the identity provider has refused the sign-in.
var ErrStatus = errors.New("the identity provider refused the sign-in")

// ServiceProvider is this service in the terms of SAML.
type ServiceProvider struct {
	MetadataURL string            // URL of the metadata, and entity id (SAML's name of this service)
	ACSURL      string            // URL of the assertion consumer service, to which browsers post the responses
	Key         *rsa.PrivateKey   // signs requests and decrypts assertions
	Certificate *x509.Certificate // contains the public half of Key
}

// New returns a service provider. base is the URL of its endpoints, such as https://example.com/auth/v1/sso/saml.
func New(base string, key *rsa.PrivateKey, cert *x509.Certificate) *ServiceProvider {
	base = strings.TrimRight(base, "/")
	return &ServiceProvider{MetadataURL: base + "/metadata", ACSURL: base + "/acs", Key: key, Certificate: cert}
}

// Assertion is an identity provider's statement about a user. The statement has passed all checks.
type Assertion struct {
	ID           string    // unique for its Issuer; the caller must reject the same id again until UsableUntil
	Issuer       string    // entity id of the identity provider
	NameID       string    // the provider's name or id of the user; "" when the assertion contains none
	NameIDFormat string    // a NameID constant or another URN; "" when the assertion states none
	SessionIndex string    // the provider's id of the session, or ""
	NotOnOrAfter time.Time // end of the session; the zero time when the provider sets none
	UsableUntil  time.Time // after this time, VerifyResponse rejects the assertion because of its age
	Attributes   []Attribute
}

// Attribute is one attribute of the user. Its values are trimmed.
type Attribute struct {
	Name, FriendlyName string
	Values             []string
}

// documentError returns the error for a document that this package rejects. format and args describe the reason.
func documentError(format string, args ...any) error { return fmt.Errorf("saml: "+format, args...) }
