package pages

import (
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// This file logs the reports that browsers send when a page violates its content security policy (CSP), for example because it loads a
// script from another site.

// ReportPath is the path to which browsers report violations of the content security policy.
const ReportPath = "/csp-reports"

// Limits of reports. They keep the log small, because anyone can send reports, and the server logs them.
const (
	maxReport        = 16 << 10 // bytes of a request body; a longer body gets the status 413
	maxLoggedValue   = 300      // bytes of one value in the log; a longer value is truncated
	reportsPerBody   = 10       // reports of one body; further reports are ignored
	reportsPerMinute = 30       // reports that this node logs in a minute; further reports are only counted
)

// reportLimiter limits how many reports are logged in a minute.
type reportLimiter struct {
	mu      sync.Mutex
	minute  time.Time // start of the minute of the most recent report
	logged  int       // number of reports logged in this minute
	dropped int       // number of reports dropped in this minute
}

// allow counts a report. ok is whether the report may be logged. The first call in a minute returns as dropped how many reports were not
// logged in the minute of the previous report, so that the caller can log this number. In all other calls dropped is 0.
func (l *reportLimiter) allow(now time.Time) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(l.minute) {
		dropped = l.dropped
		l.minute, l.logged, l.dropped = minute, 0, 0
	}
	if l.logged == reportsPerMinute {
		l.dropped++
		return false, dropped
	}
	l.logged++
	return true, dropped
}

// violation contains the values of a report that are logged. Both formats of reports have them.
type violation struct{ document, blocked, directive, source, disposition string }

// Report handles ReportPath: it logs violations of the pages' content security policy. Browsers use two formats:
//   - application/csp-report, for the directive report-uri; application/json is read as this format too
//   - application/reports+json, for the directive report-to (Reporting API)
func (s *Service) Report(w http.ResponseWriter, r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || (kind != "application/csp-report" && kind != "application/reports+json" && kind != "application/json") {
		return apperr.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "Reports are application/reports+json, application/csp-report or application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReport))
	if err != nil {
		return apperr.New(http.StatusRequestEntityTooLarge, "payload_too_large", "The report is too large").Because(err)
	}
	found, err := readReports(kind, body)
	if err != nil {
		return apperr.New(http.StatusBadRequest, "bad_json", "The report could not be read").Because(err)
	}
	for _, v := range found[:min(len(found), reportsPerBody)] {
		ok, dropped := s.reports.allow(s.now())
		if dropped > 0 {
			s.cfg.Log.Warn("content security policy: browsers sent more reports than the log accepts in a minute", "left out", dropped)
		}
		if ok {
			s.cfg.Log.Warn("content security policy: a browser reported a violation", "directive", v.directive, "blocked", v.blocked, "page", v.document, "source", v.source, "disposition", v.disposition)
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func readReports(kind string, body []byte) (found []violation, err error) {
	if kind != "application/reports+json" {
		var one struct {
			Report struct {
				Document    string `json:"document-uri"`
				Blocked     string `json:"blocked-uri"`
				Directive   string `json:"effective-directive"`
				Violated    string `json:"violated-directive"` // sent by older browsers in place of effective-directive
				Source      string `json:"source-file"`
				Disposition string `json:"disposition"`
			} `json:"csp-report"`
		}
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, err
		}
		v := one.Report
		if v.Directive = cmp.Or(v.Directive, v.Violated); v.Directive == "" {
			return nil, nil
		}
		return []violation{sanitize(violation{v.Document, v.Blocked, v.Directive, v.Source, v.Disposition})}, nil
	}
	var list []struct {
		Type string `json:"type"`
		Body struct {
			Document    string `json:"documentURL"`
			Blocked     string `json:"blockedURL"`
			Directive   string `json:"effectiveDirective"`
			Source      string `json:"sourceFile"`
			Disposition string `json:"disposition"`
		} `json:"body"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for _, report := range list {
		if v := report.Body; report.Type == "csp-violation" && v.Directive != "" {
			found = append(found, sanitize(violation{v.Document, v.Blocked, v.Directive, v.Source, v.Disposition}))
		}
	}
	return found, nil
}

// sanitize shortens the values. It removes queries and fragments from URLs, and what follows a secret path of this site, because these may
// contain personal data or secrets. The paths of other hosts stay, because they show what the policy has blocked.
func sanitize(v violation) violation {
	site := hostOf(v.document)
	for _, text := range []*string{&v.document, &v.blocked, &v.source} {
		*text, _, _ = strings.Cut(*text, "?")
		*text, _, _ = strings.Cut(*text, "#")
		if host := hostOf(*text); host == "" || site == "" || host == site {
			*text = httpx.LoggedPath(*text)
		}
	}
	for _, text := range []*string{&v.document, &v.blocked, &v.directive, &v.source, &v.disposition} {
		if len(*text) > maxLoggedValue {
			*text = strings.ToValidUTF8((*text)[:maxLoggedValue], "") + "…"
		}
	}
	return v
}

// hostOf returns the host of a URL in lower case, without its port; "" if it has none, or if the text is not a URL.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
