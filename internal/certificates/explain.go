package certificates

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/mholt/acmez/v3/acme"
)

// explanations maps the error types of certificate authorities (RFC 8555 §6.7) to texts that tell the operator what is wrong and what to
// do.
var explanations = map[string]string{
	"dns":                     "the name has no usable address in DNS: make it point to this machine",
	"connection":              "the certificate authority did not reach this machine under the name: does it point here, and are ports 80 and 443 open from outside?",
	"unauthorized":            "something else answered under the name: does it point to this machine, and does no other web server stand before it?",
	"incorrectResponse":       "something else answered under the name: does it point to this machine, and does no other web server stand before it?",
	"tls":                     "the certificate authority could not speak TLS with this machine: does something else listen on port 443?",
	"caa":                     "the name's CAA record in DNS forbids this certificate authority",
	"rateLimited":             "the certificate authority's limit is reached: it is tried again later",
	"rejectedIdentifier":      "the certificate authority gives no certificates for this name",
	"unsupportedIdentifier":   "the certificate authority gives no certificates for this name",
	"externalAccountRequired": "the certificate authority requires an account that was set up with it beforehand, which is not supported",
	"invalidContact":          "the certificate authority does not take the e-mail address in acme-email",
	"unsupportedContact":      "the certificate authority does not take the e-mail address in acme-email",
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
