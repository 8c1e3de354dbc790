package pages

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

// Proves SENT-policy-1.
func TestReportsOfStoppedContentAreLoggedWithinBounds(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	h := httpx.Handle(WriteError, s.Report)
	post := func(kind, body string) int {
		r := httptest.NewRequest("POST", ReportPath, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	const report = `{"csp-report":{"document-uri":"https://a.example/?token=secret#x","blocked-uri":"inline","effective-directive":"script-src-elem","source-file":"https://a.example/","disposition":"enforce"}}`
	const reports = `[{"type":"deprecation","body":{}},{"type":"csp-violation","body":{"documentURL":"https://a.example/gallery","blockedURL":"https://evil.example/x.js?a","effectiveDirective":"img-src"}}]`
	for _, c := range []struct {
		kind, body string
		status     int
		logged     string
	}{
		{"application/csp-report", report, 204, `directive=script-src-elem blocked=inline page=https://a.example/ source=https://a.example/`},
		{"application/reports+json; charset=utf-8", reports, 204, `directive=img-src blocked=https://evil.example/x.js page=https://a.example/gallery`},
		{"application/csp-report", strings.Replace(report, "/?token=", "/Enquiry/", 1), 204, `page=https://a.example/Enquiry/… source=`}, // a mistyped private link
		{"application/csp-report", strings.Replace(report, "inline", "http://A.example/calendar/secret", 1), 204, `blocked=http://A.example/calendar/… page=`},
		{"application/csp-report", strings.Replace(report, "inline", "https://b.example/calendar-widget/v2.js?secret", 1), 204, `blocked=https://b.example/calendar-widget/v2.js page=`},
		{"application/csp-report", `{"csp-report":{"violated-directive":"` + strings.Repeat("é", 5000) + `"}}`, 204, "é…"},
		{"application/csp-report", `{}`, 204, ""},
		{"application/reports+json", `[]`, 204, ""},
		{"application/reports+json", `{}`, 400, ""},
		{"application/csp-report", `[`, 400, ""},
		{"application/csp-report", strings.Repeat(" ", maxReport+1), 413, ""},
		{"text/plain", report, 415, ""},
		{"", report, 415, ""},
	} {
		log.Reset()
		if got := post(c.kind, c.body); got != c.status || !strings.Contains(log.String(), c.logged) || (c.logged == "") != (log.Len() == 0) || log.Len() > 1000 || strings.Contains(log.String(), "secret") {
			t.Errorf("%s %.80s: %d, %s", c.kind, c.body, got, log.String())
		}
	}
	log.Reset()
	for range 100 {
		post("application/csp-report", report)
	}
	post("application/reports+json", "["+strings.Repeat(`{"type":"csp-violation","body":{"effectiveDirective":"img-src"}},`, 100)+`{}]`)
	if n := strings.Count(log.String(), "\n"); n > reportsPerMinute {
		t.Errorf("%d lines in a minute", n)
	}
	now = now.Add(time.Minute)
	log.Reset()
	post("application/csp-report", report)
	if !strings.Contains(log.String(), `"left out"=`) || !strings.Contains(log.String(), "script-src-elem") {
		t.Errorf("the next minute: %s", log.String())
	}
}

// Proves SENT-hints-1.
//
// TestEarlyHintsPrecedeUncachedPages: browsers get 103 over HTTP/2, but not over HTTP/1.1, and not if the page is cached.
func TestEarlyHintsPrecedeUncachedPages(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	hints := func(proto int, mode string) (links []string) {
		t.Helper()
		s := served(t, d, proto == 2)
		for range 2 { // the first request makes the page
			r, err := http.NewRequestWithContext(earlyTrace(t.Context(), &links), "GET", s.URL+"/gallery", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Sec-Fetch-Mode", mode)
			rec, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if rec.StatusCode != 200 || rec.ProtoMajor != proto || rec.Header.Get("Link") != "" {
				t.Fatalf("%d over HTTP/%d: %v", rec.StatusCode, rec.ProtoMajor, rec.Header)
			}
		}
		return links
	}
	got := fmt.Sprint(hints(2, "navigate"))
	if got != "[</assets/en-4d.js>; rel=modulepreload; crossorigin </assets/gallery-7a.js>; rel=modulepreload; crossorigin </assets/grid-3c.js>; rel=modulepreload; crossorigin]" {
		t.Errorf("got %s", got)
	}
	for _, c := range []struct {
		proto int
		mode  string
	}{{2, ""}, {2, "cors"}, {1, "navigate"}} {
		if links := hints(c.proto, c.mode); len(links) > 0 {
			t.Errorf("HTTP/%d, %q: %v", c.proto, c.mode, links)
		}
	}
	drawn, err := newWithDefaults(d, withScript(t, "globalThis.render = () => ({ head: '', body: '<p></p>' })"), Config{Content: rowsOf(nil)}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rec, hinted := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	hinted.ProtoMajor = 2
	hinted.Header.Set("Sec-Fetch-Mode", "navigate")
	var sent []string
	drawn.sendEarlyHints(earlyWriter{rec, &sent}, hinted, view{path: "/", language: "en"})
	if got := fmt.Sprint(sent); got != "[</assets/start-9c.js>; rel=modulepreload; crossorigin]" {
		t.Errorf("of a page whose scripts wait: %s", got)
	}
	if err := drawn.Close(); err != nil {
		t.Error(err)
	}
	m := pageManifest{Scripts: []string{"/a.js"}, Fonts: []string{"/f.woff2"}, Sheet: "/a.css"} // the style sheet is part of the page
	if got := fmt.Sprint(m.linkHeaders(view{path: "/"}, false)); got != "[</f.woff2>; rel=preload; as=font; crossorigin </a.js>; rel=modulepreload; crossorigin]" {
		t.Errorf("got %s", got)
	}
}

// earlyWriter records the links of 103 responses, which the recorder drops.
type earlyWriter struct {
	*httptest.ResponseRecorder
	links *[]string
}

func (w earlyWriter) WriteHeader(int) { *w.links = append(*w.links, w.Header()["Link"]...) }

// earlyTrace records the links of 103 responses.
func earlyTrace(ctx context.Context, links *[]string) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		if code == http.StatusEarlyHints {
			*links = append(*links, header["Link"]...)
		}
		return nil
	}})
}

// served starts an HTTP server with a new service.
func served(t *testing.T, d *db.DB, two bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(newService(t, d))
	s.EnableHTTP2 = two
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// Proves SENT-policy-1.
//
// TestSecureSitesNameTheirEndpointForReports: sites without HTTPS send only report-uri, which Chromium ignores if there is a report-to.
func TestSecureSitesNameTheirEndpointForReports(t *testing.T) {
	for site, secure := range map[string]bool{"https://a.example": true, "http://a.example": false} {
		cfg := Config{SiteURL: site, APIURL: site}
		endpoints := newPageHeaders(cfg).Get("Reporting-Endpoints") == `csp="/csp-reports"`
		policy := contentSecurityPolicy(cfg)
		if endpoints != secure || strings.HasSuffix(policy, "; report-uri /csp-reports; report-to csp") != secure || !strings.Contains(policy, "; report-uri /csp-reports") {
			t.Errorf("%s: endpoints %v, %s", site, endpoints, policy)
		}
	}
}
