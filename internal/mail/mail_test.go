package mail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"log/slog"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/device"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
)

func slogTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// waitFor waits up to a minute until ok returns true.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met within a minute")
		}
	}
}

// headers are all headers that a mail may have. Any other header would mean that untrusted text can add headers.
var headers = []string{"Auto-Submitted", "Content-Language", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To", "X-Auto-Response-Suppress"}

// automatic are the headers that suppress automatic replies.
var automatic = map[string]bool{"Auto-Submitted": true, "X-Auto-Response-Suppress": true}

// checkHeaders checks that a mail has the usual headers and more, each once, and no others.
func checkHeaders(t testing.TB, h netmail.Header, more ...string) {
	t.Helper()
	checkHeadersAre(t, h, append(more, headers...))
}

// checkHeadersAre checks that a mail has the wanted headers, each once, and no others.
func checkHeadersAre(t testing.TB, h netmail.Header, want []string) {
	t.Helper()
	var names []string
	for name, values := range h {
		names = append(names, name)
		if len(values) != 1 {
			t.Errorf("%s occurs %d times", name, len(values))
		}
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("headers %v, want %v", names, want)
	}
}

var tag = regexp.MustCompile(`(?s)<style>.*?</style>|<!--.*?-->|<[^>]*>`)

// visible returns the text of an HTML mail without its markup, in one line.
func visible(page string) string {
	_, body, _ := strings.Cut(page, "</head>")
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(body, " "))), " ")
}

// Proves AM-mail-1, A-mail-1, A-mail-2, A-mail-4, A-safe-17.
func TestEveryMessageInBothLanguagesAsAFile(t *testing.T) {
	for _, l := range i18n.Languages {
		for kind := range kindIsNotice {
			t.Run(string(l)+" "+string(kind), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "mail")
				var log bytes.Buffer
				msg := message(kind, l)
				file, err := newMailer(t, Config{Dir: dir}, &log).Send(t.Context(), msg)
				if err != nil {
					t.Fatal(err)
				}
				entries, err := os.ReadDir(dir)
				if err != nil || len(entries) != 1 || filepath.Join(dir, entries[0].Name()) != file {
					t.Fatalf("%v %v", entries, err)
				}
				if !regexp.MustCompile(`^20261121T054031Z-[a-z2-7]{10}\.eml$`).MatchString(entries[0].Name()) {
					t.Errorf("name %s", entries[0].Name())
				}
				if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v %v", info.Mode(), err)
				}
				text := log.String()
				before, after, found := strings.Cut(text, file) // the file's name is random, and one in some thousand names contains "ines"
				if !found || strings.Contains(text, "s3cr3t") || strings.Contains(text, "482913") || strings.Contains(before+after, "ines") {
					t.Errorf("log: %s", text)
				}
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				o := open(t, data)
				switch {
				case msg.Reply != nil: // a person has written it
					personal := slices.DeleteFunc(slices.Clone(headers), func(name string) bool { return automatic[name] })
					checkHeadersAre(t, o.Header, append(personal, "Reply-To"))
				case msg.Contact != nil:
					checkHeaders(t, o.Header, "Reply-To")
				default:
					checkHeaders(t, o.Header)
				}
				if date, err := o.Header.Date(); err != nil || !date.Equal(at) {
					t.Errorf("Date %s %v", date, err)
				}
				from, err := o.Header.AddressList("From")
				if err != nil || len(from) != 1 || *from[0] != (netmail.Address{Name: "Alvor", Address: "no-reply@alvor.example"}) {
					t.Errorf("From %v %v", from, err)
				}
				if to, err := o.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != msg.To {
					t.Errorf("To %v %v", to, err)
				}
				if (o.Header.Get("Auto-Submitted") == "auto-generated") == (msg.Reply != nil) || o.Header.Get("Content-Language") != string(l) || !strings.HasSuffix(o.Header.Get("Message-Id"), "@alvor.example>") {
					t.Errorf("%v", o.Header)
				}
				checkTexts(t, o, msg)
				checkPage(t, o.HTML, l)
			})
		}
	}
}

// checkTexts checks that both alternatives contain everything that the message must say.
func checkTexts(t *testing.T, o mailtest.Mail, msg Message) {
	t.Helper()
	l := msg.Language
	var name string
	if msg.Contact != nil {
		name = msg.Contact.Name
	}
	say := func(part string) string {
		return l.Text("mail."+string(msg.Kind)+"."+part, "site", "Alvor", "name", name, "n", "595", "aside", "540")
	}
	if o.Subject != say("subject") {
		t.Errorf("subject %q", o.Subject)
	}
	want := []string{say("title"), say("body"), say("note"), l.Text("mail.footer", "site", "Alvor")}
	if msg.Reply != nil {
		want = append(want, "Temos <tempo> & tinta.", "Em maio.")
	}
	if msg.Digest != nil {
		want = append(want, say("aside"))
		for _, e := range msg.Digest.Newest {
			want = append(want, e.Name, l.Text("mail.reason."+e.Reason))
		}
	}
	if msg.Link != "" {
		want = append(want, say("action"), msg.Link)
		if !strings.Contains(o.HTML, `href="`+html.EscapeString(msg.Link)+`"`) {
			t.Error("no link to follow")
		}
		if !strings.Contains(o.Text, "\n"+msg.Link+"\n") {
			t.Error("the text needs the link on a line of its own")
		}
	}
	if msg.Code != "" {
		want = append(want, msg.Code)
	}
	if kindIsNotice[msg.Kind] {
		want = append(want, l.Time(at))
	}
	if msg.Device != "" {
		want = append(want, "Firefox, Linux", msg.IP)
	}
	if msg.NewEmail != "" {
		want = append(want, msg.NewEmail)
	}
	if c := msg.Contact; c != nil {
		want = append(want, c.Name, c.Email, l.Text("mail.reason."+c.Reason), "Bom dia!", "Temos uma <parede>.", "Seria possível?")
		if reply, err := o.Header.AddressList("Reply-To"); err != nil || len(reply) != 1 || *reply[0] != (netmail.Address{Name: c.Name, Address: c.Email}) {
			t.Errorf("Reply-To %v %v", reply, err)
		}
		if !strings.Contains(o.Text, "\n> Bom dia!\n> Temos uma <parede>.\n\n> Seria possível?\n") {
			t.Errorf("the visitor's lines:\n%s", o.Text)
		}
		for _, mark := range []string{"<parede>", "<b>Rui"} { // a visitor's text is not markup
			if strings.Contains(o.HTML, mark) {
				t.Errorf("%s is not escaped", mark)
			}
		}
	} else if r := msg.Reply; r != nil {
		if reply, err := o.Header.AddressList("Reply-To"); err != nil || len(reply) != 1 || reply[0].Address != r.To {
			t.Errorf("Reply-To %v %v", reply, err)
		}
		if strings.Contains(o.HTML, "<tempo>") {
			t.Error("what an owner types is markup")
		}
	} else if o.Header.Get("Reply-To") != "" {
		t.Error("the mail has no Reply-To")
	}
	if msg.Copy != "" {
		if !strings.Contains(o.Text, "\n> Bom dia!\n> Temos uma <parede> em www.\u200bevil.\u200bexample/\u200bx.\u200b\n") {
			t.Errorf("the visitor's lines:\n%s", o.Text)
		}
		if strings.Contains(o.HTML, "<parede>") || strings.Contains(o.Text+o.HTML, "evil.example") {
			t.Errorf("what a visitor types is markup, or a link:\n%s", o.HTML)
		}
	}
	page := visible(o.HTML)
	for _, part := range want {
		if !strings.Contains(o.Text, part) {
			t.Errorf("the text lacks %q", part)
		}
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(o.Text, "\n\n\n") || strings.Contains(o.Text, "{") || (msg.Contact == nil && msg.Digest == nil && msg.Reply == nil && msg.Copy == "" && strings.Contains(o.Text, "<")) || strings.Contains(page, "{") {
		t.Errorf("loose ends:\n%s", o.Text)
	}
}

var (
	tables = regexp.MustCompile(`<table[^>]*>`)
	colour = regexp.MustCompile(`#[0-9A-Fa-f]{3,8}\b`)
)

// checkPage checks the markup that mail programs and screen readers need.
func checkPage(t *testing.T, page string, l i18n.Language) {
	t.Helper()
	if !strings.Contains(page, `<html lang="`+string(l)+`"`) || strings.Count(page, "<h1") != 1 || !strings.Contains(page, "<title>") {
		t.Error("language, title or heading is missing")
	}
	for _, table := range tables.FindAllString(page, -1) {
		if !strings.Contains(table, `role="presentation"`) {
			t.Errorf("a layout table that reads as data: %s", table)
		}
	}
	for _, never := range []string{"<img", "<script", "<link", "@import", "url(", "src=", "http-equiv", "$"} {
		if strings.Contains(page, never) {
			t.Errorf("the page must bring all it needs, and run nothing: %s", never)
		}
	}
	for _, needs := range []string{"prefers-color-scheme: dark", `name="color-scheme"`, "[data-ogsc]", "<!--[if mso]>"} {
		if !strings.Contains(page, needs) {
			t.Errorf("%s is missing", needs)
		}
	}
	if strings.Count(page, "<!--[if mso]>") != strings.Count(page, "<![endif]-->") {
		t.Error("Outlook's parts are not closed")
	}
	for _, c := range colour.FindAllString(page, -1) {
		known := false
		for _, pair := range palette {
			known = known || c == pair[0] || c == pair[1]
		}
		if !known {
			t.Errorf("%s is not a colour of the design", c)
		}
	}
	if len(page) > 60_000 {
		t.Errorf("%d bytes: long mails are cut off by some programs", len(page))
	}
}

// Proves A-mail-1.
func TestEveryKindHasExactlyItsTexts(t *testing.T) {
	shared := []string{"code", "link", "once", "detail", "footer", "reason", "pictures"}
	catalogue, err := os.ReadFile("../i18n/en.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]string
	if err := json.Unmarshal(catalogue, &texts); err != nil {
		t.Fatal(err)
	}
	for key := range texts {
		rest, isMail := strings.CutPrefix(key, "mail.")
		if !isMail {
			continue
		}
		first, _, _ := strings.Cut(rest, ".")
		if _, isKind := kindIsNotice[Kind(first)]; !isKind && !slices.Contains(shared, first) {
			t.Errorf("%s is used by nothing", key)
		}
	}
	for kind := range kindIsNotice { // actions too: notices may be given a link
		msg := message(kind, i18n.EN)
		msg.Link = link
		if p := newPage(msg, "Alvor", "https://alvor.example"); p.Action == "" || p.Subject == "" {
			t.Errorf("%s: %+v", kind, p)
		}
	}
}

// directionAndLines has the characters that change the direction of text, and Unicode's line separators.
const directionAndLines = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"

// hostile has names and devices that visitors and owners may enter, and text that must not result from them.
var hostile = []string{
	"Alvor\r\nBcc: eve@example.com", "Alvor\nX-Evil: 1\n\nbody", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "{{.Link}}", "{site}{code}",
	"=?utf-8?q?x?=", "\u202eetilê\u2066", "a\x00b", "\xff\xfe", "=?0?Q??=", strings.Repeat("ç", 5000), "--boundary--", ".\r\n.\r\nQUIT\r\n", "\u2028\u2029", directionAndLines, "Inês " + directionAndLines + " Prado", "",
	"Zoë & Filhos <zoe@example.com>", `Ana "A" \\ Sá`, "<!--[if mso]>", "$ink$", "😀 Ateliê",
}

// Proves A-safe-15, P-found-hostile.
func TestHostileNames(t *testing.T) {
	server := startMailServer(t, mailtest.Options{})
	for _, name := range hostile {
		m := newMailer(t, Config{Server: serverOf(server, TLSOffered, "", ""), SiteName: siteName(name)}, nil)
		msg := message(NewDevice, i18n.EN)
		msg.Device, msg.IP, msg.NewEmail, msg.Code = name, name, name, name
		if _, err := m.Send(t.Context(), msg); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	mails := server.Mails()
	if len(mails) != len(hostile) {
		t.Fatalf("%d mails", len(mails))
	}
	for i, mail := range mails {
		checkHarmless(t, mail.Data, hostile[i])
	}
}

// Proves E-reply-2.
//
// The subject of a notice says whether an offer was answered, a review was written, or something else.
func TestANoticeSaysWhatTheVisitorHasDone(t *testing.T) {
	for _, c := range []struct {
		contact Contact
		subject string
	}{
		{Contact{}, "Alvor: Inês has written again"},
		{Contact{OfferAnswer: true}, "Alvor: Inês has answered your offer"},
		{Contact{Review: true}, "Alvor: Inês has written a review"},
	} {
		msg := message(ContactAnswer, i18n.EN)
		c.contact.Name, c.contact.Email, c.contact.Reason, c.contact.Text = "Inês", "ines@example.org", "commission", "A text"
		msg.Contact = &c.contact
		r, err := render(msg, "Alvor", "https://alvor.example")
		if err != nil || r.subject != c.subject || !strings.Contains(r.text, "> A text") {
			t.Errorf("%q: %q %v\n%s", c.subject, r.subject, err, r.text)
		}
	}
}

// Proves E-secret-1, P-found-hostile.
//
// What visitors and owners write is text in mails, and never a header, an element or a link.
func TestHostileTextsOfConversations(t *testing.T) {
	server := startMailServer(t, mailtest.Options{})
	m := newMailer(t, Config{Server: serverOf(server, TLSOffered, "", "")}, nil)
	kinds := []Kind{ContactReply, ContactOffer, ContactProgress, ContactReview, ContactCopy, ContactNotice, ContactAnswer, ContactDigest}
	for _, text := range hostile {
		for _, kind := range kinds {
			msg := message(kind, i18n.EN)
			if msg.Reply != nil {
				msg.Reply.Text = text
				if o := msg.Reply.Offer; o != nil {
					o.Price, o.Deposit, o.PromisedOn, o.ExpiresOn = text, text, text, text
				}
			}
			if msg.Contact != nil {
				msg.Contact.Name, msg.Contact.Text = text, text
			}
			if msg.Digest != nil {
				msg.Digest.Newest[0].Name = text
			}
			if msg.Copy != "" && text != "" { // no copy is empty
				msg.Copy = text
			}
			if _, err := m.Send(t.Context(), msg); err != nil {
				t.Errorf("%s %q: %v", kind, text, err)
			}
		}
	}
	mails := server.Mails()
	if len(mails) != len(hostile)*len(kinds) {
		t.Fatalf("%d mails", len(mails))
	}
	for i, mail := range mails {
		o := open(t, mail.Data)
		if o.Header.Get("Bcc")+o.Header.Get("X-Evil") != "" {
			t.Errorf("%q: headers %v", hostile[i/len(kinds)], o.Header)
		}
		checkInert(t, o, hostile[i/len(kinds)])
	}
}

func checkHarmless(t testing.TB, data []byte, name string) {
	t.Helper()
	o := open(t, data)
	checkHeaders(t, o.Header)
	checkInert(t, o, name)
}

// checkInert checks that nothing of a hostile text is more than text in subject and bodies, and that no character of it changes the
// direction or the lines of the text around it.
func checkInert(t testing.TB, o mailtest.Mail, name string) {
	t.Helper()
	if strings.ContainsAny(o.Subject+o.Text+o.HTML, directionAndLines+"\x00\r") {
		t.Errorf("%q: control characters came through", name)
	}
	if len(o.Subject) > 1000 || strings.ContainsAny(o.Subject, "\r\n") {
		t.Errorf("%q: subject %q", name, o.Subject)
	}
	if from, err := o.Header.AddressList("From"); err != nil || len(from) != 1 || from[0].Address != "no-reply@alvor.example" {
		t.Errorf("%q: From %v %v", name, from, err)
	}
	if strings.Contains(o.HTML, "<script") || strings.Contains(o.HTML, "<img") || strings.Contains(o.HTML, "s3cr3t") {
		t.Errorf("%q came through", name)
	}
}

// Proves A-safe-19.
func FuzzNames(f *testing.F) {
	for _, name := range hostile {
		f.Add(name, "ines@example.org")
	}
	f.Add("Alvor", "a@b.example\r\nBcc: c@d.example")
	f.Fuzz(func(t *testing.T, name, to string) {
		m := newMailer(t, Config{SiteName: siteName(name)}, nil)
		msg := message(NewDevice, i18n.PT)
		msg.To, msg.Device, msg.IP, msg.NewEmail = to, name, name, name
		if check(msg) != nil {
			return
		}
		composed, err := m.compose(msg, oneLine(name, 100))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		var data bytes.Buffer
		if _, err := composed.WriteTo(&data); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, data.Bytes(), name)
		parsed, err := open(t, data.Bytes()).Header.AddressList("To")
		if err != nil || len(parsed) != 1 || parsed[0].Address != to {
			t.Fatalf("to %q became %v %v", to, parsed, err)
		}
	})
}

// Proves A-mail-8.
func TestSenders(t *testing.T) {
	for from, want := range map[string]string{
		"ola@alvor.example":             `"Alvor" <ola@alvor.example>`,
		"Ateliê <ola@alvor.example>":    `=?utf-8?q?Ateli=C3=AA?= <ola@alvor.example>`,
		`"Sá, Ana" <ola@alvor.example>`: `=?utf-8?b?U8OhLCBBbmE=?= <ola@alvor.example>`,
		"":                              `"Alvor" <no-reply@alvor.example>`,
	} {
		file, err := newMailer(t, Config{From: from, Dir: t.TempDir()}, nil).Send(t.Context(), message(Test, i18n.EN))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := open(t, data).Header.Get("From"); !strings.EqualFold(got, want) {
			t.Errorf("%q: From %s", from, got)
		}
	}
	for _, from := range []string{"nobody", "a@b.example, c@d.example", "Ana\r\nBcc: x@y.example <a@b.example>", "\"Ana\n\" <a@b.example>", "Ana\x00 <a@b.example>"} {
		if _, err := New(Config{From: from, SiteURL: "https://alvor.example"}, slogTo(io.Discard), now); err == nil {
			t.Errorf("%q was taken", from)
		}
	}
	for site, want := range map[string]string{"http://127.0.0.1:8000": "no-reply@localhost", "http://localhost:8000": "no-reply@localhost"} {
		if m := newMailer(t, Config{SiteURL: site}, nil); m.from.Address != want || hostName(site) != "localhost" {
			t.Errorf("%s: %s, %s", site, m.from.Address, hostName(site))
		}
	}
	if _, err := New(Config{SiteURL: "nowhere"}, slogTo(io.Discard), now); err == nil {
		t.Error("a site without a host was taken")
	}
}

func TestUnreadableSiteNameIsTemporary(t *testing.T) {
	m := newMailer(t, Config{Dir: t.TempDir(), SiteName: func(context.Context) (string, error) { return "", errors.New("database is away") }}, nil)
	if _, err := m.Send(t.Context(), message(Test, i18n.EN)); err == nil || jobs.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestUnwritableFolderIsTemporary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newMailer(t, Config{Dir: filepath.Join(file, "mail")}, nil).Send(t.Context(), message(Test, i18n.EN)); err == nil || jobs.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestPurgeDeletesOldMailsOnly(t *testing.T) {
	dir := t.TempDir()
	m := newMailer(t, Config{Dir: dir}, nil)
	for name, age := range map[string]time.Duration{"old.eml": fileRetention + time.Hour, "new.eml": fileRetention - time.Hour, ".mail-left": fileRetention + time.Hour, "notes.txt": fileRetention + time.Hour} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, at, at.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "new.eml" || filepath.Base(left[1]) != "notes.txt" {
		t.Errorf("%v %v", left, err)
	}
	if err := newMailer(t, Config{Dir: filepath.Join(dir, "absent")}, nil).Purge(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDevices(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0":           "Edge, Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1": "Safari, iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36":                            "Chrome, Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:130.0) Gecko/20100101 Firefox/130.0":                                                    "Firefox, Mac",
		"curl/8.5.0": "curl/8.5.0",
		"":           "",
		"bad\r\nagent \u202e" + strings.Repeat("x", 200): "bad agent " + strings.Repeat("x", 110) + "…",
	} {
		if got := oneLine(device.Parse(agent).String(), 120); got != want {
			t.Errorf("%q: got %q", agent, got)
		}
	}
}

func TestOneLineKeepsJoiners(t *testing.T) {
	for text, want := range map[string]string{
		"\U0001F469\u200d\U0001F3A8":                       "\U0001F469\u200d\U0001F3A8",                       // a painter, joined of two emoji
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", // Persian, with a non-joiner
		"a\u200eb\u00adc\ufeffd":                           "a b c d",
	} {
		if got := oneLine(text, 100); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
