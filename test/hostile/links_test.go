package hostile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// The test has many conversations, each with a private link, because a link accepts only ten texts a minute. Every row of a conversation has a
// text with the mark of the conversation. A page that contains the mark of another conversation shows a row that it must not show.
const (
	erasable    = 40 // conversations whose links are also used to erase them
	quarantined = 5  // links to messages in quarantine, after those of the conversations
	withPicture = 3  // conversations with a picture from the beginning: the first ones after the erasable ones
	tokenStart  = "link-0000"
	linkSurface = "private links"
)

// Two hidden conversations: the link of the first one has expired, and requests use it; the link of the second one is in no request.
const (
	hiddenMessage = "00000000-0000-4000-8000-000000000007"
	otherMessage  = "00000000-0000-4000-8000-000000000099"
	hiddenOffer   = "00000000-0000-4000-8000-000000000097"
	otherOffer    = "00000000-0000-4000-8000-000000000096"
	endedToken    = "ended-link-to-a-message"
	otherToken    = "a-link-that-no-one-gets"
)

func linkToken(n int) string { return fmt.Sprintf("link-%017d", n) }
func linkMark(n int) string  { return fmt.Sprintf("mark-%05d", n) }
func messageOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8001-%012d", n) }
func offerOf(n int) string   { return fmt.Sprintf("00000000-0000-4000-8002-%012d", n) }
func isErasable(n int) bool  { return n < erasable }
func encodeLetters(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

// links has the conversations that requests for private links can name, and the requests that were acknowledged.
type links struct {
	count        int            // of conversations
	pictures     map[int]string // conversation → id of its picture
	otherPicture string

	mu      sync.Mutex
	texts   map[string]visit // texts of the visitor that were acknowledged
	answers map[int]string   // acknowledged answers to offers
	erased  map[int]bool     // acknowledged erasures
	found   map[string]int   // how many requests had which result
}

// visit describes a request for a private link.
type visit struct {
	conversation int
	text         string // unique; "" for none
	pictures     int
	answer       string
	erase        bool
}

// fillLinks inserts the conversations and their links.
func (s *site) fillLinks(t *testing.T) {
	t.Helper()
	ctx, service := t.Context(), identity.Caller{Role: identity.Service}
	l := &links{count: max(100, *count/5), pictures: map[int]string{}, texts: map[string]visit{}, answers: map[int]string{}, erased: map[int]bool{}, found: map[string]int{}}
	s.links = l
	var messages, replies, offers, commissions, reviews []map[string]any
	for n := range l.count {
		messages = append(messages, map[string]any{"id": messageOf(n), "name": linkMark(n), "email": "seen@site.example", "message": "Seen " + linkMark(n)})
		replies = append(replies, map[string]any{"id": offerOf(n), "message_id": messageOf(n), "author": "owner", "kind": "offer", "text": "Offer " + linkMark(n)})
		offers = append(offers, map[string]any{"id": offerOf(n), "message_id": messageOf(n), "price_text": "300 € " + linkMark(n)})
		commissions = append(commissions, map[string]any{"message_id": messageOf(n), "stage": "offer"})
		reviews = append(reviews, map[string]any{"message_id": messageOf(n), "state": "asked"})
	}
	for _, message := range []string{hiddenMessage, otherMessage} {
		reviews = append(reviews, map[string]any{"message_id": message, "state": "waiting", "client_name": canary, "message": canary})
	}
	messages = append(messages, map[string]any{"id": otherMessage, "name": canary, "email": canary, "message": canary})
	for offer, message := range map[string]string{hiddenOffer: hiddenMessage, otherOffer: otherMessage} {
		replies = append(replies, map[string]any{"id": offer, "message_id": message, "author": "owner", "kind": "offer", "text": canary})
		offers = append(offers, map[string]any{"id": offer, "message_id": message, "price_text": canary})
	}
	for _, table := range []struct {
		name string
		rows []map[string]any
	}{{"contact_submissions", messages}, {"contact_replies", replies}, {"commission_offers", offers}, {"commissions", commissions}, {"commission_reviews", reviews}} {
		for rows := range slices.Chunk(table.rows, 200) {
			must(t, s.app.Tables.InsertRows(ctx, service, table.name, rows))
		}
	}
	must(t, s.app.DB.WithTx(ctx, func(tx *db.Tx) error {
		hour := time.Now().Add(time.Hour)
		link := func(token string, message, quarantined any, expires time.Time) error {
			hash := sha256.Sum256([]byte(token))
			return db.Exec(ctx, tx, "insert into contact_links (token_hash, nonce, message_id, quarantine_id, created_at, expires_at) values ($1, 'none', $2, $3, $4, $5)",
				hex.EncodeToString(hash[:]), message, quarantined, time.Now(), expires)
		}
		for n := range l.count {
			if err := link(linkToken(n), messageOf(n), nil, hour); err != nil {
				return err
			}
		}
		for n := l.count; n < l.count+quarantined; n++ {
			if err := db.Exec(ctx, tx, "insert into contact_quarantine (id, name, email, message, reason, created_at) values ($1, $2, 'x@site.example', $2, 'links', $3)",
				messageOf(n), linkMark(n), time.Now()); err != nil {
				return err
			}
			if err := link(linkToken(n), nil, messageOf(n), hour); err != nil {
				return err
			}
		}
		if err := link(endedToken, hiddenMessage, nil, time.Now().Add(-time.Hour)); err != nil {
			return err
		}
		return link(otherToken, otherMessage, nil, hour)
	}))
	s.sendPicture(t, otherToken, canary)
	must(t, s.app.DB.QueryRow(ctx, "select id from contact_pictures where message_id = $1", otherMessage).Scan(&l.otherPicture))
	for n := erasable; n < erasable+withPicture; n++ {
		s.sendPicture(t, linkToken(n), linkMark(n))
		var id string
		must(t, s.app.DB.QueryRow(ctx, "select id from contact_pictures where message_id = $1", messageOf(n)).Scan(&id))
		l.pictures[n] = id
	}
}

// sendPicture sends a text with a picture as a visitor does.
func (s *site) sendPicture(t *testing.T, token, text string) {
	t.Helper()
	contentType, body := linkForm([][2]string{{"text", text}}, [][]byte{pixel}, true)
	r := &request{method: "POST", target: "/enquiry/" + token, body: body}
	r.header("Content-Type", contentType)
	c := &client{address: s.address}
	defer c.close()
	a, err := c.send(r)
	must(t, err)
	if a.status != http.StatusSeeOther {
		t.Fatalf("a text with a picture: %d %s", a.status, a.body)
	}
}

// linkForm returns a form with fields and pictures; its last boundary is left out unless it is complete.
func linkForm(fields [][2]string, pictures [][]byte, complete bool) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range fields { // a buffer takes everything
		_ = w.WriteField(field[0], field[1])
	}
	for i, p := range pictures {
		if part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="picture"; filename="%d.png"`, i)}}); err == nil {
			_, _ = part.Write(p)
		}
	}
	if complete {
		_ = w.Close()
	}
	return w.FormDataContentType(), b.Bytes()
}

// enquiry generates requests for private links: to conversations, to one that has expired, and to none.
func (g *generator) enquiry() *request {
	n := g.IntN(g.links.count + quarantined)
	if g.chance(40) {
		return g.visitor(n)
	}
	token := linkToken(n)
	target := g.word("/enquiry/", "/enquiry/", "/enquiry/", "/enquiry/", "/enquiry/", "//enquiry/", "/./enquiry/", "/x/../enquiry/", "/Enquiry/", "/ENQUIRY/", "/enquiry//", "/enquiry%2f", "/enquiry%252f", "/%65nquiry/", "/enquiry/./", "/enquiry/x/../", "/enquiry;a=b/", "/enquiry/%2e%2e/enquiry/",
		"/enquiry\\", "http://site.example/enquiry/", "/pt/enquiry/", "/enquiry")
	target += g.word(token, token, token, token, endedToken, "AAAAAAAAAAAAAAAAAAAAAA", token[:21], token+"A", strings.ToUpper(token), strings.ToUpper(token[:1])+token[1:], token+"/", token+"%00", token+"%20", "%20"+token, token+"=", token+"==", token+"%0a", encodeLetters(token), encodeLetters(encodeLetters(token)),
		strings.ReplaceAll(token, "-", "+"), strings.ReplaceAll(token, "-", "_"), token+";a=b", token+"%c3%a9", "%ef%bb%bf"+token, encode(token), hex.EncodeToString([]byte(token)), token+token, "", ".", "..", "%2e%2e", "..%2f"+token, "'or'1'='1", token+"'--", "null", "%ff%fe", "%25s", "*",
		strings.Repeat("a", g.IntN(9000)), strings.Repeat("%61", g.IntN(3000)), url.PathEscape(g.text()))
	target += g.word("", "", "", "", "?lang=pt", "?lang="+g.escape(g.text()), "?"+g.escape(g.text()), "?lang=en&lang=pt", "#last", "?%zz", "?token="+token, "/../"+linkToken(g.IntN(g.links.count)), "/picture/"+g.picture()+g.word("", "/small", "/large", "/", "?download", "/small/small", "%2fsmall"))
	r := g.request(g.word("GET", "GET", "HEAD", "POST", "POST", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"), target)
	g.hugeHeader(r)
	if r.method == "GET" || r.method == "HEAD" {
		return r
	}
	fields := [][2]string{{"text", g.word("Is it blue?", "", " \r\n", g.text(), strings.Repeat("ã", g.IntN(6000)))}, {"id", g.word("a", "", g.text())}, {"action", g.word("", "reply", "answer", "answer", "review", "review", "remove-review", "erase", g.text())},
		{"offer", g.word(offerOf(n), offerOf(g.IntN(g.links.count)), hiddenOffer, otherOffer, "", "x", g.text())}, {"answer", g.word("accepted", "declined", "", g.text())}, {"name", g.word("Inês", "", g.text(), strings.Repeat("ã", g.IntN(200)))},
		{"place", g.word("Faro", "", g.text())}, {"remove", g.word("yes", "", g.text())}, {"confirm", g.word("", "no", "YES", "yes\x00", g.text())}}
	if g.chance(20) {
		fields = append(fields, fields[g.IntN(len(fields))], [2]string{g.text(), g.text()})
	}
	if g.chance(40) {
		return g.multipart(r, fields)
	}
	var b strings.Builder
	for _, field := range fields {
		b.WriteString(field[0] + "=" + g.escape(field[1]) + g.word("&", "&", "&", ";", "&&"))
	}
	r.header("Content-Type", g.word("application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "text/plain", "application/json", ";;", "multipart/mixed", "application/x-www-form-urlencoded; charset=utf-16", ""))
	return g.framed(r, []byte(b.String()))
}

// picture returns the id of a picture of some conversation, or none.
func (g *generator) picture() string {
	own := slices.Sorted(maps.Values(g.links.pictures))
	return g.word(own[g.IntN(len(own))], own[g.IntN(len(own))], g.links.otherPicture, g.links.otherPicture, strings.ToUpper(own[0]), "{"+own[0]+"}", "urn:uuid:"+own[0], "", ".", "..%2f..%2fjwt-secret", "%00", url.PathEscape(g.text()))
}

// hugeHeader sometimes adds a header that is larger than programs expect, or than the server takes (64 KiB).
func (g *generator) hugeHeader(r *request) {
	if g.chance(5) {
		r.header(g.word("Cookie", "Referer", "Accept-Language", "X-"+strings.Repeat("a", 3000), "Authorization", "Content-Disposition"), strings.Repeat(g.word("a", "a=b;", "é,", "%"), pick(g, 1000, 30_000, 70_000)))
	}
}

// multipart sets a form with pictures that is damaged in one of many ways.
func (g *generator) multipart(r *request, fields [][2]string) *request {
	var pictures [][]byte
	for range g.IntN(8) {
		pictures = append(pictures, g.bytes())
	}
	contentType, body := linkForm(fields, pictures, g.chance(80))
	boundary := strings.TrimPrefix(contentType, "multipart/form-data; boundary=")
	switch g.IntN(12) {
	case 0:
		body = body[:g.IntN(len(body)+1)]
	case 1: // a part without the end of its headers
		body = []byte("--" + boundary + "\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a\"")
	case 2: // many parts
		body = append(bytes.Repeat([]byte("--"+boundary+"\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n"), pick(g, 20, 1200)), body...)
	case 3: // many and large headers of a part
		body = []byte("--" + boundary + "\r\n" + strings.Repeat("X-A: "+strings.Repeat("b", pick(g, 10, 5000))+"\r\n", pick(g, 10, 400)) + "Content-Disposition: form-data; name=\"text\"\r\n\r\nx\r\n--" + boundary + "--")
	case 4:
		body = bytes.Replace(body, []byte("form-data; name"), []byte(g.word("attachment; name", "form-data; NAME", "form-data; name*=utf-8''a; name", "form-data;; name", "form-data; name=\"\x00\"; x")), 1)
	case 5: // line feeds without carriage returns
		body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	case 6:
		body = bytes.Replace(body, []byte("filename="), []byte(g.word("filename*=utf-8''%ff; filename=", "filename=\"../../x\"; a=", "filename=\"\"; b=")), 1)
	case 7: // a form in a form
		body = bytes.Replace(body, []byte("\r\n\r\n"), []byte("\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: "+g.word("base64", "quoted-printable", "x")+"\r\n\r\n--b\r\n\r\n"), 1)
	}
	r.header("Content-Type", g.word(contentType, contentType, contentType, contentType, "multipart/form-data; boundary=other", "multipart/form-data", "multipart/form-data; boundary="+strings.Repeat("b", 300), "application/json", contentType+"; boundary=b"))
	return g.framed(r, body)
}

// visitor generates what a visitor's browser would send: if it is acknowledged, it must be stored.
func (g *generator) visitor(n int) *request {
	r := g.request("POST", "/enquiry/"+linkToken(n)+g.word("", "", "?lang=pt", "?lang=en"))
	v := visit{conversation: n}
	fields := [][2]string{}
	pictures := [][]byte{}
	switch g.IntN(8) {
	case 0:
		v.answer = g.word("accepted", "declined")
		fields = append(fields, [2]string{"action", "answer"}, [2]string{"offer", offerOf(n)}, [2]string{"answer", v.answer}, [2]string{"name", "Inês " + linkMark(n)})
	case 1:
		if !isErasable(n) {
			n = g.IntN(erasable)
			v.conversation, r.target = n, "/enquiry/"+linkToken(n)
		}
		v.erase = true
		fields = append(fields, [2]string{"action", "erase"}, [2]string{"confirm", "yes"})
	case 2, 3:
		for range 1 + g.IntN(2) {
			pictures = append(pictures, pixel)
		}
		v.pictures = len(pictures)
		fallthrough
	default:
		v.text = fmt.Sprintf("A text %d-%d for %s", g.Uint64(), g.Uint64(), linkMark(n))
		fields = append(fields, [2]string{"id", strconv.FormatUint(g.Uint64(), 36)}, [2]string{"text", v.text})
	}
	if len(pictures) > 0 || g.chance(50) {
		contentType, body := linkForm(fields, pictures, true)
		r.header("Content-Type", contentType)
		g.framed(r, body)
	} else {
		form := url.Values{}
		for _, f := range fields {
			form.Set(f[0], f[1])
		}
		r.header("Content-Type", "application/x-www-form-urlencoded")
		g.framed(r, []byte(form.Encode()))
	}
	if r.framing == exact || r.framing == chunked {
		r.visit = &v
	}
	return r
}

var markPattern = regexp.MustCompile(`mark-\d{5}`)

// check checks a response to a request for a private link: it shows no row of another conversation. It records what was acknowledged.
func (l *links) check(r *request, a *response) error {
	if !strings.Contains(strings.ToLower(r.target), "nquiry") {
		return nil
	}
	path, _, _ := strings.Cut(r.target, "?")
	for range 3 { // a token that is encoded twice is none, but may be shown in a form's address
		if next, err := url.PathUnescape(path); err == nil {
			path = next
		}
	}
	if bytes.Contains(a.body, []byte(canary)) || strings.Contains(fmt.Sprint(a.header), canary) {
		return fmt.Errorf("shows a hidden conversation: %d %s", a.status, a.body)
	}
	for _, mark := range markPattern.FindAllString(string(a.body)+fmt.Sprint(a.header), -1) {
		if !strings.Contains(path, "link-000000000000"+mark[len("mark-"):]) {
			return fmt.Errorf("shows a conversation that has another link, %s: %d %s", mark, a.status, a.body)
		}
	}
	if a.status == http.StatusOK && strings.Contains(path, "/picture/") && strings.HasPrefix(a.header.Get("Content-Type"), "image/") {
		own := false
		for n, id := range l.pictures {
			own = own || strings.Contains(path, linkToken(n)) && strings.Contains(path, id)
		}
		if !own {
			return fmt.Errorf("shows a picture of another conversation")
		}
	}
	if strings.HasPrefix(r.target, "/enquiry/") && a.status != http.StatusBadRequest && !strings.HasPrefix(strconv.Itoa(a.status), "30") && a.header.Get("X-Request-Id") != "" {
		for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"} {
			if got := a.header.Get(name); got != want {
				return fmt.Errorf("%d has the header %s: %q", a.status, name, got)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found[strconv.Itoa(a.status)]++
	v := r.visit
	if v == nil || r.method != http.MethodPost {
		return nil
	}
	switch {
	case v.erase && a.status == http.StatusOK:
		l.erased[v.conversation] = true
		l.found["erased"]++
	case v.text != "" && a.status == http.StatusSeeOther:
		l.texts[v.text] = *v
		l.found["texts"]++
		l.found["pictures"] += v.pictures
	case v.answer != "" && a.status == http.StatusSeeOther:
		if before := l.answers[v.conversation]; before != "" && before != v.answer {
			return fmt.Errorf("an offer was %s, then %s", before, v.answer)
		}
		l.answers[v.conversation] = v.answer
		l.found["answers"]++
	}
	return nil
}

// agePictures makes all pictures two hours old: visitors can send 200 in an hour.
func (l *links) agePictures(t *testing.T, d *db.DB) {
	t.Helper()
	must(t, db.Exec(t.Context(), d, "update contact_pictures set created_at = $1", time.Now().Add(-2*time.Hour)))
}

// hiddenConversations describes the conversations that no request may change.
func (s *site) hiddenConversations(t *testing.T) (state string) {
	t.Helper()
	must(t, s.app.DB.QueryRow(t.Context(), `select (select count(*) from contact_replies where message_id in ($1, $2)) || ':' || (select count(*) from contact_pictures where message_id in ($1, $2))
		|| ':' || (select count(*) from commission_offers where message_id in ($1, $2) and answer is null) || ':' || (select count(*) from contact_links where message_id in ($1, $2))
		|| ':' || (select max(status) from contact_submissions where id = $2)`, hiddenMessage, otherMessage).Scan(&state))
	return state
}

// checkConversations checks that what was acknowledged is stored, and that nothing is stored that was erased. complete is whether every
// other conversation must be there: callers with the right to do so delete them.
func (s *site) checkConversations(t *testing.T, complete bool) {
	t.Helper()
	ctx, l := t.Context(), s.links
	list := func(query string, args ...any) map[string]string {
		t.Helper()
		pairs, err := db.Collect(ctx, s.app.DB, func(row db.Row) (p [2]string, err error) {
			err = row.Scan(&p[0], &p[1])
			return p, err
		}, query, args...)
		must(t, err)
		found := map[string]string{}
		for _, p := range pairs {
			found[p[0]] = p[1]
		}
		return found
	}
	replies := list(`select r.text, r.message_id || ' ' || (select count(*) from contact_pictures p where p.reply_id = r.id
		and exists (select 1 from storage_objects o where o.bucket_id = 'conversation-pictures' and o.name = p.name)) from contact_replies r`)
	for text, v := range l.texts {
		if want := fmt.Sprintf("%s %d", messageOf(v.conversation), v.pictures); replies[text] != want && !isErasable(v.conversation) {
			t.Errorf("%q: stored %q, want %q", text, replies[text], want)
		}
	}
	answers := list("select message_id, answer from commission_offers where answer is not null")
	for n, answer := range l.answers {
		if got := answers[messageOf(n)]; got != answer && !isErasable(n) {
			t.Errorf("the offer of %s is answered %q, want %q", linkMark(n), got, answer)
		}
	}
	messages := list("select m.id, m.message from contact_submissions m join contact_links l on l.message_id = m.id join commission_offers o on o.message_id = m.id")
	for n := range l.count {
		if _, is := messages[messageOf(n)]; is && l.erased[n] || complete && !is && !isErasable(n) {
			t.Errorf("%s: stored %v, erased %v", linkMark(n), is, l.erased[n])
		}
	}
}

// checkLinks checks after the attack of callers without the right that requests for private links had every result, and that messages in
// quarantine are untouched.
func (s *site) checkLinks(t *testing.T) {
	t.Helper()
	l := s.links
	if n, err := db.One[int](t.Context(), s.app.DB, "select count(*) from contact_quarantine where reason = 'links'"); err != nil || n != quarantined {
		t.Errorf("%d in quarantine, %v", n, err)
	}
	t.Logf("private links: %v", l.found)
	for _, kind := range []string{"texts", "pictures", "answers", "erased"} {
		if l.found[kind] == 0 {
			t.Errorf("no request was acknowledged: %s", kind)
		}
	}
}
