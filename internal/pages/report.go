package pages

import (
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelie/internal/apperr"
)

// ReportPath is where browsers report what the policy of a page has stopped.
const ReportPath = "/csp-reports"

// Limits of what strangers can put into the log.
const (
	maxReport       = 16 << 10 // bytes of a body
	maxReported     = 300      // bytes of one value
	reportsAtOnce   = 10       // of a body
	reportsInMinute = 30       // of this node
)

// reportLog counts what was written in the minute that has begun.
type reportLog struct {
	mu      sync.Mutex
	minute  time.Time
	written int
	left    int
}

// allow tells whether one more may be written, and how many were left out in the minute before.
func (l *reportLog) allow(now time.Time) (ok bool, missed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(l.minute) {
		missed, l.minute, l.written, l.left = l.left, minute, 0, 0
	}
	if l.written == reportsInMinute {
		l.left++
		return false, missed
	}
	l.written++
	return true, missed
}

// violation is what both forms of a report say.
type violation struct{ document, blocked, directive, source, disposition string }

// Report logs violations of the pages' policy: application/csp-report of report-uri, and application/reports+json of
// report-to (Reporting API). The answer is 204 whatever is in it, for nobody reads it.
func (s *Service) Report(log *slog.Logger) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || (kind != "application/csp-report" && kind != "application/reports+json" && kind != "application/json") {
			return apperr.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "Reports are application/reports+json or application/csp-report")
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReport))
		if err != nil {
			return apperr.New(http.StatusRequestEntityTooLarge, "payload_too_large", "The report is too large").Because(err)
		}
		found, err := readReports(kind, body)
		if err != nil {
			return apperr.New(http.StatusBadRequest, "bad_json", "The report could not be read").Because(err)
		}
		for _, v := range found[:min(len(found), reportsAtOnce)] {
			ok, missed := s.reports.allow(s.now())
			if missed > 0 {
				log.Warn("content security policy: more was reported than is written", "left out", missed)
			}
			if ok {
				log.Warn("content security policy: a browser has stopped something", "directive", v.directive, "blocked", v.blocked, "page", v.document, "source", v.source, "disposition", v.disposition)
			}
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

func readReports(kind string, body []byte) (found []violation, err error) {
	if kind != "application/reports+json" {
		var one struct {
			Report struct {
				Document    string `json:"document-uri"`
				Blocked     string `json:"blocked-uri"`
				Directive   string `json:"effective-directive"`
				Violated    string `json:"violated-directive"` // of older browsers
				Source      string `json:"source-file"`
				Disposition string `json:"disposition"`
			} `json:"csp-report"`
		}
		if err := json.Unmarshal(body, &one); err != nil {
			return nil, err
		}
		v := one.Report
		if v.Directive == "" {
			v.Directive = v.Violated
		}
		if v.Directive == "" {
			return nil, nil
		}
		return []violation{tidy(violation{v.Document, v.Blocked, v.Directive, v.Source, v.Disposition})}, nil
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
			found = append(found, tidy(violation{v.Document, v.Blocked, v.Directive, v.Source, v.Disposition}))
		}
	}
	return found, nil
}

// tidy cuts what strangers wrote, and takes queries and fragments off addresses: they may hold a visitor's own words, or
// a link's secret.
func tidy(v violation) violation {
	for _, text := range []*string{&v.document, &v.blocked, &v.source} {
		*text, _, _ = strings.Cut(*text, "?")
		*text, _, _ = strings.Cut(*text, "#")
	}
	for _, text := range []*string{&v.document, &v.blocked, &v.directive, &v.source, &v.disposition} {
		if len(*text) > maxReported {
			*text = strings.ToValidUTF8((*text)[:maxReported], "") + "…"
		}
	}
	return v
}
