package certificates

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/mholt/acmez/v3/acme"
)

func TestFailuresAreExplained(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{acme.Problem{Type: "urn:ietf:params:acme:error:dns"}, "make it point to this machine"},
		{fmt.Errorf("solving: %w", acme.Problem{Type: acme.ProblemTypeConnection}), "does it point here"},
		{acme.Problem{Type: "urn:ietf:params:acme:error:unauthorized"}, "another server responded"},
		{acme.Problem{Type: "urn:ietf:params:acme:error:rateLimited"}, "limit"},
		{acme.Problem{Type: "urn:ietf:params:acme:error:of-tomorrow"}, "refused"},
		{&url.Error{Op: "Get", URL: "https://authority.example", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, "cannot be reached"},
		{&net.DNSError{Err: "no such host"}, "cannot be reached"},
		{context.DeadlineExceeded, "could not be obtained"},
		{errTooManyStarts, "next try waits"},
	} {
		if got := explain(c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}
