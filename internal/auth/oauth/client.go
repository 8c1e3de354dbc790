package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// This file sends requests to providers, with limits of time and size.

// Limits of a request to a provider, and of the response.
const (
	requestTimeout   = 10 * time.Second // for the whole exchange, including the response body
	maxResponseBytes = 1 << 20
)

// newClient returns the HTTP client for requests to providers. It limits the time of a request and the size of the response. It follows no
// redirects: an attacker could use a redirect of the provider to reach hosts in the server's private network.
func newClient() *http.Client {
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: limitedTransport{http.DefaultTransport},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			return fmt.Errorf("redirect to %s refused", r.URL.Redacted())
		},
	}
}

// limitedTransport limits the length of responses. It also sets User-Agent, because GitHub rejects requests without one.
type limitedTransport struct{ next http.RoundTripper }

func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "atelie")
	response, err := t.next.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxResponseBytes}
	}
	return response, err
}

// limitedBody is a response body whose Read returns errResponseTooLong after more than maxResponseBytes.
type limitedBody struct {
	io.ReadCloser
	left int64 // bytes that Read can still return; negative after the body was too long
}

var errResponseTooLong = errors.New("the provider's response is too long")

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errResponseTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)]) // one byte more than allowed shows that the body is too long
	if b.left -= int64(n); b.left < 0 {
		return 0, errResponseTooLong
	}
	return n, err
}

// getJSON requests JSON from a provider's endpoint (a URL) and decodes it into dst. token is the access token, or "" for a
// public document. Its error wraps ErrRefused for a status below 500 that is not 200. For a higher status, a failed request and an
// unreadable response the error wraps ErrUnavailable.
func (p *Provider) getJSON(ctx context.Context, endpoint, token string, dst any) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		kind := ErrRefused
		if response.StatusCode >= http.StatusInternalServerError {
			kind = ErrUnavailable
		}
		return fmt.Errorf("%w: %s responded with %s", kind, r.URL.Path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(dst); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, r.URL.Path, err)
	}
	return nil
}
