package saml

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Limits of Fetch.
const (
	fetchTime    = 10 * time.Second
	maxRedirects = 3
)

// Fetch returns the metadata of an identity provider from a URL, which must be https, or http on this machine. It reads at
// most MaxMetadata bytes, counted after decompression.
func Fetch(ctx context.Context, address string) ([]byte, error) {
	if err := checkAddress(address); err != nil {
		return nil, refuse("metadata address: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, refuse("metadata address: %w", err)
	}
	request.Header.Set("Accept", "application/samlmetadata+xml, application/xml, text/xml")
	client := &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("too many redirects")
		}
		return checkAddress(next.URL.String())
	}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		return nil, refuse("metadata: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, MaxMetadata+1))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, refuse("metadata: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, refuse("metadata: the answer is %s", answer.Status)
	}
	if len(body) > MaxMetadata {
		return nil, refuse("metadata: more than %d bytes", MaxMetadata)
	}
	return body, nil
}
