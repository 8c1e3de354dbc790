package certificates

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/mholt/acmez/v3/acme"
)

// problems says in the host's words what the authority's errors mean (RFC 8555 §6.7).
var problems = map[string]string{
	"dns":                     "the name has no usable address in DNS: make it point to this machine",
	"connection":              "the certificate authority did not reach this machine under the name: does it point here, and are ports 80 and 443 open from outside?",
	"unauthorized":            "something else answered under the name: does it point to this machine, and does no other web server stand before it?",
	"incorrectResponse":       "something else answered under the name: does it point to this machine, and does no other web server stand before it?",
	"tls":                     "the certificate authority could not speak TLS with this machine: does something else listen on port 443?",
	"caa":                     "the name's CAA record in DNS forbids this certificate authority",
	"rateLimited":             "the certificate authority's limit is reached: it will be asked again later",
	"rejectedIdentifier":      "the certificate authority gives no certificates for this name",
	"unsupportedIdentifier":   "the certificate authority gives no certificates for this name",
	"externalAccountRequired": "the certificate authority wants an account that is set up with it beforehand, which is not supported",
	"invalidContact":          "the certificate authority does not take the e-mail address in acme-email",
	"unsupportedContact":      "the certificate authority does not take the e-mail address in acme-email",
}

// explain says what to do about a failure. The exact words stand beside it in the log.
func explain(err error) string {
	var problem acme.Problem
	if errors.As(err, &problem) {
		kind := problem.Type[strings.LastIndex(problem.Type, ":")+1:]
		if text, ok := problems[kind]; ok {
			return text
		}
		return "the certificate authority refused"
	}
	var (
		asked  *url.Error
		dialed *net.OpError
		looked *net.DNSError
	)
	switch {
	case errors.As(err, &looked), errors.As(err, &dialed), errors.As(err, &asked):
		return "the certificate authority cannot be reached from this machine"
	case errors.Is(err, errTooManyStarts):
		return errTooManyStarts.Error()
	}
	return "the certificate could not be obtained"
}
