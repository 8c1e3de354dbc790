package functions

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"atelie/internal/jobs"
)

// webhookTime bounds one call, from the look-up of the name to the answer's head.
const webhookTime = 10 * time.Second

var (
	errWebhookAddress = errors.New("the webhook's address must be https:// and without a user name")
	errWebhookPrivate = errors.New("the webhook's address leads into a private network")
)

// webhookHost names the receiver without what may be secret in its address.
func webhookHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// webhookSecret is the key as receivers are given it (Standard Webhooks 1.0).
func (s *Service) webhookSecret() string {
	return "whsec_" + base64.StdEncoding.EncodeToString(s.notices.WebhookKey)
}

// newWebhookClient makes the client for addresses that an owner typed: it follows no redirect, uses no proxy, and without
// private connects to public addresses alone. That is looked at when the name is resolved, not before, so that a
// name cannot mean something else a moment later.
func newWebhookClient(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: webhookTime}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !public(at.Addr()) {
				return errWebhookPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       webhookTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: webhookTime, MaxResponseHeaderBytes: 64 << 10},
	}
}

// closed are networks that are not private by name, but lead to no stranger either (RFC 6890, RFC 6052, RFC 3056).
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(closed, func(p netip.Prefix) bool { return p.Contains(a) })
}

// callWebhook sends a body to an address of the owner's choice, signed as Standard Webhooks 1.0 says, under an id that is
// the same at every try. An error that another try would only repeat is
// jobs.Permanent; none has the address or what the other side answered in it.
func (s *Service) callWebhook(ctx context.Context, address, id string, body []byte) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && (u.Scheme != "http" || !s.notices.PrivateWebhooks)) {
		return jobs.Permanent(errWebhookAddress)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return jobs.Permanent(errWebhookAddress)
	}
	id, sent := "msg_"+id, strconv.FormatInt(s.now().Unix(), 10)
	mac := hmac.New(sha256.New, s.notices.WebhookKey)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", sent)
	req.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	res, err := s.hooks.Do(req)
	if errors.Is(err, errWebhookPrivate) {
		return jobs.Permanent(errWebhookPrivate)
	}
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its own text has the whole address
		}
		return fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)); err != nil && res.StatusCode/100 == 2 {
		return fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	if res.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("%s answered %d", req.URL.Host, res.StatusCode)
	if res.StatusCode == http.StatusGone { // Standard Webhooks: the receiver wants no more
		return jobs.Permanent(err)
	}
	return err
}
