package supabase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file sends requests to a Supabase project, and sends a request again after a temporary failure.

// Limits of the requests to a project.
const (
	maxAttempts      = 6                // attempts at one request
	firstDelay       = time.Second      // wait before the second attempt; twice as long before each further one
	maxRetryAfter    = 5 * time.Minute  // longest wait that the project may ask for with Retry-After; the request fails if it asks for more
	idleTimeout      = time.Minute      // a request ends with an error if nothing arrives for this time
	maxResponseBytes = 32 << 20         // limit of a response that is not a file
	connectTimeout   = 20 * time.Second // limit of connecting, and then of the TLS handshake: each may take so long
)

// client makes requests to one project. It does not follow redirects, because a redirect could send the service key to another host, or
// lead to a host in the private network instead of the project.
type client struct {
	base *url.URL // URL of the project
	key  string   // the service key: the API key with full rights on the project
	http *http.Client
	wait func(ctx context.Context, d time.Duration) error // waits between two attempts at a request; tests replace it
}

// parseProjectURL parses and checks the URL of a project. Plain HTTP is accepted only for hosts on this machine or in a private network,
// because anyone on the network path to another host could read the service key.
func parseProjectURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" {
		return nil, errors.New("the project URL must be like https://abcdefgh.supabase.co")
	}
	switch {
	case u.Scheme == "https":
		return u, nil
	case u.Scheme == "http" && isLocal(u.Hostname()):
		return u, nil
	}
	return nil, errors.New("the project URL must begin with https://, because others could read the service key on the way")
}

// isLocal reports whether a host is on this machine or in a private network. A host name counts as local if it has no dot, such as
// localhost.
func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return !strings.Contains(host, ".")
	}
	return ip.IsLoopback() || ip.IsPrivate()
}

// statusError is the error for a response with an unexpected HTTP status.
type statusError struct {
	request string // method and path
	status  int
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s was answered with status %d", e.request, e.status)
	switch {
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		text += ": is it the project's service key (service_role, or a secret key)?"
	case e.status/100 == 3:
		text += ": redirects are not followed; give the URL to which it leads as --project-url"
	case e.status == http.StatusTooManyRequests || e.status >= http.StatusInternalServerError:
		text += " repeatedly: try later; the same command resumes the import"
	}
	return text
}

// do makes a request. It retries the request after network errors and after the statuses 429 and 5xx; before a retry, it waits as long
// as Retry-After says (firstDelay and more without that header). The error is an *statusError for a status other than 200
// and 206. The caller closes the body.
func (c *client) do(ctx context.Context, method, path string, query url.Values, body []byte, header http.Header) (*http.Response, error) {
	target := *c.base
	target.Path, target.RawPath = "", ""
	requestURL := target.String() + path
	if len(query) > 0 {
		requestURL += "?" + query.Encode()
	}
	label := method + " " + printable(path) // names the request in errors
	for attempt := 1; ; attempt++ {
		res, err := c.once(ctx, method, requestURL, body, header)
		delay := firstDelay << (attempt - 1)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			if u, ok := errors.AsType[*url.Error](err); ok {
				err = u.Err
			}
			err = fmt.Errorf("%s: %w", label, err)
		case res.StatusCode == http.StatusOK || res.StatusCode == http.StatusPartialContent:
			return res, nil
		default:
			retryAfter := res.Header.Get("Retry-After")
			_ = res.Body.Close()
			err = &statusError{label, res.StatusCode}
			if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
				return nil, err
			}
			if seconds, parseErr := strconv.Atoi(retryAfter); parseErr == nil && seconds >= 0 {
				if delay = time.Duration(min(seconds, 1<<20)) * time.Second; delay > maxRetryAfter {
					return nil, fmt.Errorf("%w (it asks for a pause of %s)", err, delay)
				}
			}
		}
		if attempt == maxAttempts {
			return nil, err
		}
		if err := c.wait(ctx, delay+rand.N(delay/4+time.Millisecond)); err != nil {
			return nil, err
		}
	}
}

// once makes a request without retries. The request ends when nothing arrives for idleTimeout.
func (c *client) once(ctx context.Context, method, requestURL string, body []byte, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(idleTimeout, func() { cancel(errSilent) })
	req, err := http.NewRequestWithContext(ctx, method, requestURL, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("apikey", c.key)
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept-Encoding", "identity") // else Content-Length would not be the length of the file
	res, err := c.http.Do(req)
	if err != nil {
		watch.Stop()
		cancel(nil)
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		return nil, err
	}
	res.Body = &watchedBody{ReadCloser: res.Body, watch: watch, end: func() { cancel(nil) }}
	return res, nil
}

// readAll makes a request and returns the body of the response, of at most maxResponseBytes bytes. It retries the request if the body ends
// early.
func (c *client) readAll(ctx context.Context, method, path string, query url.Values, body []byte, header http.Header) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		res, err := c.do(ctx, method, path, query, body, header)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(res.Body, maxResponseBytes+1))
		_ = res.Body.Close() // only read from
		switch {
		case len(text) > maxResponseBytes:
			return nil, fmt.Errorf("%s %s: a response has more than %d MB", method, printable(path), maxResponseBytes>>20)
		case err == nil:
			return text, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case attempt == maxReads:
			return nil, fmt.Errorf("%s %s: the response ended early: %w", method, printable(path), err)
		}
		if err := c.wait(ctx, firstDelay<<attempt); err != nil {
			return nil, err
		}
	}
}

var errSilent = errors.New("nothing arrived for a minute")

// watchedBody is the body of a response. Each read restarts idleTimeout.
type watchedBody struct {
	io.ReadCloser
	watch *time.Timer
	end   func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		b.watch.Reset(idleTimeout)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.watch.Stop()
	err := b.ReadCloser.Close()
	b.end()
	return err
}
