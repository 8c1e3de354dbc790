package saml

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Limits of FetchMetadata.
const (
	fetchTimeout = 10 * time.Second // for the request, its redirects and the body together
	maxRedirects = 3
)

// FetchMetadata reads the metadata (the XML that describes an identity provider) from a URL. The URL and the targets of redirects must be
// https, or http on this machine. FetchMetadata returns an error for more than MaxMetadata bytes, counted after decompression.
func FetchMetadata(ctx context.Context, metadataURL string) ([]byte, error) {
	if err := checkURL(metadataURL); err != nil {
		return nil, documentError("metadata URL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metadataURL, nil)
	if err != nil {
		return nil, documentError("metadata URL: %w", err)
	}
	request.Header.Set("Accept", "application/samlmetadata+xml, application/xml, text/xml")
	client := &http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("too many redirects")
		}
		return checkURL(next.URL.String())
	}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil, documentError("metadata: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxMetadata+1))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, documentError("metadata: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, documentError("metadata: the response has the status %s", response.Status)
	}
	if len(body) > MaxMetadata {
		return nil, documentError("metadata: more than %d bytes", MaxMetadata)
	}
	return body, nil
}
