package certificates

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/mholt/acmez/v3/acme"
)

// This file explains to the operator, in the log, why a certificate could not be obtained.

// explanations says for each error type of a certificate authority (RFC 8555 §6.7) what is wrong and what to do. A key is the last part of
// the type, such as "dns" for urn:ietf:params:acme:error:dns.
var explanations = map[string]string{
	"dns":                     "the name has no usable address in DNS: make it point to this machine",
	"connection":              "the certificate authority did not reach this machine under the name: does it point here, and are ports 80 and 443 open from outside?",
	"unauthorized":            "another server responded under the name: make the name point to this machine, and check that no other web server is in front of it",
	"incorrectResponse":       "another server responded under the name: make the name point to this machine, and check that no other web server is in front of it",
	"tls":                     "the certificate authority could not make a TLS connection to this machine: does something else listen on port 443?",
	"caa":                     "the name's CAA record in DNS forbids this certificate authority",
	"rateLimited":             "the certificate authority's limit is reached: it is tried again later",
	"rejectedIdentifier":      "the certificate authority does not issue certificates for this name",
	"unsupportedIdentifier":   "the certificate authority does not issue certificates for this name",
	"externalAccountRequired": "the certificate authority requires an account that was set up with it beforehand, which is not supported",
	"invalidContact":          "the certificate authority does not accept the e-mail address in acme-email: set another one",
	"unsupportedContact":      "the certificate authority does not accept the e-mail address in acme-email: set another one",
}

// explain returns the reason why a certificate could not be obtained, as a text for the operator. The caller also logs the error itself.
func explain(err error) string {
	if problem, ok := errors.AsType[acme.Problem](err); ok {
		kind := problem.Type[strings.LastIndex(problem.Type, ":")+1:]
		if text, ok := explanations[kind]; ok {
			return text
		}
		return "the certificate authority refused"
	}
	var (
		requestErr *url.Error
		dialErr    *net.OpError
		lookupErr  *net.DNSError
	)
	switch {
	case errors.As(err, &lookupErr), errors.As(err, &dialErr), errors.As(err, &requestErr):
		return "the certificate authority cannot be reached from this machine"
	case errors.Is(err, errTooManyStarts):
		return errTooManyStarts.Error()
	}
	return "the certificate could not be obtained"
}
