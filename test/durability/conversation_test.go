package durability

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/mail/mailtest"
)

// visitorPictures is the number of requests with a picture that visitors send. Later texts have none, because the limit is 200 pictures an
// hour.
const visitorPictures = 150

// postsPerLink is the number of posts to a private link after which a writer begins another conversation. The limit is 10 a minute, and
// retries count.
const postsPerLink = 8

// conversation is the state of a writer that goes through conversations step by step. A step that was not acknowledged is retried after
// the kill with the same id, as a browser does.
type conversation struct {
	step      int
	link      string // path of the private link
	posts     int    // to link, with those that were not acknowledged
	messageID string
	offerID   string
	text      string // of the current step
	picture   []byte
}

// acknowledgedText is an acknowledged text of a conversation.
type acknowledgedText struct {
	messageID, link string
	mailed          bool // it is by an owner, so it was mailed to the visitor
	picture         []byte
}

// converse does the next step of a conversation, and begins another one after the last.
func (s *site) converse(ctx context.Context, c *conversation) bool {
	if c.posts == postsPerLink {
		*c = conversation{}
	}
	if c.text == "" || c.step == 0 { // a new message has no id, so a retry must be another message
		c.text, c.picture = "A word that must not be lost: "+uuid.NewString(), nil
	}
	ok := false
	switch c.step {
	case 0:
		ok = s.beginConversation(ctx, c)
	case 1:
		ok = s.visitorText(ctx, c)
	case 2:
		ok = s.ownerText(ctx, c, "contact-reply", map[string]string{"action": "reply"})
	case 3:
		ok = s.ownerText(ctx, c, "commission", map[string]string{"action": "offer", "price": "300 €"})
	case 4:
		ok = s.acceptOffer(ctx, c)
	case 5:
		ok = s.ownerText(ctx, c, "commission", map[string]string{"action": "progress"})
	}
	if ok {
		c.text = ""
		if c.step++; c.step == 6 {
			*c = conversation{}
		}
	}
	return ok
}

func (s *site) beginConversation(ctx context.Context, c *conversation) bool {
	body, err := json.Marshal(map[string]any{"name": "Inês", "email": "ines@exemplo.example", "message": c.text, "follow": true})
	if err != nil {
		s.t.Error(err)
		return false
	}
	status, got, ok := s.send(ctx, "POST", "/functions/v1/submit-contact", s.visitorHeaders(""), body)
	var given struct {
		URL string `json:"enquiry_url"`
	}
	if !ok || status == http.StatusOK && json.Unmarshal(got, &given) != nil {
		return false
	}
	_, token, _ := strings.Cut(given.URL, "/enquiry/")
	if !s.acknowledged(c.text, status, http.StatusOK, got, func() { s.messages = append(s.messages, c.text) }) {
		return false
	}
	status, got, ok = s.send(ctx, "GET", "/rest/v1/contact_submissions?select=id&message=eq."+url.QueryEscape(c.text), nil, nil)
	var rows []struct{ ID string }
	if !ok || status != http.StatusOK || json.Unmarshal(got, &rows) != nil || len(rows) != 1 {
		if ok {
			s.t.Errorf("the message is not there: %d %s", status, got)
		}
		return false
	}
	c.link, c.messageID = "/enquiry/"+token, rows[0].ID
	return true
}

// visitorHeaders are those of a visitor with another address for each request, which is below the limits of an address.
func (s *site) visitorHeaders(contentType string) map[string]string {
	h := map[string]string{"X-Forwarded-For": fmt.Sprintf("10.%d.%d.%d", rand.IntN(250), rand.IntN(250), rand.IntN(250))}
	if contentType != "" {
		h["Content-Type"] = contentType
	}
	return h
}

// noise returns a small picture that no other one equals.
func (s *site) noise() []byte {
	picture := image.NewGray(image.Rect(0, 0, 20+rand.IntN(20), 20))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.IntN(256))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		s.t.Error(err)
	}
	return b.Bytes()
}

// pictureForm returns a form with fields and, unless it is empty, a picture.
func (s *site) pictureForm(picture []byte, fields ...[2]string) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	var err error
	for _, f := range fields {
		err = errors.Join(err, w.WriteField(f[0], f[1]))
	}
	if len(picture) > 0 {
		part, failed := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="picture"; filename="a.png"`}})
		if err = errors.Join(err, failed); err == nil {
			_, err = part.Write(picture)
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		s.t.Error(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func (s *site) visitorText(ctx context.Context, c *conversation) bool {
	c.posts++
	if c.picture == nil && s.pictures.Load() < visitorPictures {
		c.picture = s.noise()
	}
	if c.picture != nil {
		s.pictures.Add(1)
	}
	contentType, body := s.pictureForm(c.picture, [2]string{"id", c.text}, [2]string{"text", c.text})
	status, got, ok := s.send(ctx, "POST", c.link, s.visitorHeaders(contentType), body)
	return ok && s.acknowledged(c.text, status, http.StatusSeeOther, got, func() { s.said[c.text] = acknowledgedText{c.messageID, c.link, false, c.picture} })
}

func (s *site) ownerText(ctx context.Context, c *conversation, function string, fields map[string]string) bool {
	fields["message_id"], fields["id"], fields["text"] = c.messageID, c.text, c.text
	request, err := json.Marshal(fields)
	if err != nil {
		s.t.Error(err)
		return false
	}
	contentType, body := "application/json", request
	if fields["action"] != "offer" {
		if c.picture == nil {
			c.picture = s.noise()
		}
		contentType, body = s.pictureForm(c.picture, [2]string{"request", string(request)})
	}
	status, got, ok := s.send(ctx, "POST", "/functions/v1/"+function, map[string]string{"Content-Type": contentType}, body)
	var state struct{ Offers []struct{ ID string } }
	if !ok || status == http.StatusOK && json.Unmarshal(got, &state) != nil {
		return false
	}
	if fields["action"] == "offer" && len(state.Offers) > 0 {
		c.offerID = state.Offers[0].ID
	}
	return s.acknowledged(c.text, status, http.StatusOK, got, func() { s.said[c.text] = acknowledgedText{c.messageID, c.link, true, c.picture} })
}

func (s *site) acceptOffer(ctx context.Context, c *conversation) bool {
	c.posts++
	form := url.Values{"action": {"answer"}, "answer": {"accepted"}, "offer": {c.offerID}, "name": {"Inês"}}
	status, got, ok := s.send(ctx, "POST", c.link, s.visitorHeaders("application/x-www-form-urlencoded"), []byte(form.Encode()))
	return ok && s.acknowledged(c.text, status, http.StatusSeeOther, got, func() { s.accepted = append(s.accepted, c.offerID) })
}

var (
	pictureLink = regexp.MustCompile(`<a href="([^"]*/picture/[0-9a-f-]{36})"`)
)

// verifyConversations checks that every acknowledged text is stored once, with its picture, and every acknowledged answer to an offer.
func (s *site) verifyConversations() {
	ctx := s.t.Context()
	stored := map[string]int{}
	for _, row := range s.rowsOf(ctx, "contact_replies", "id,message_id,text", "") {
		stored[row["message_id"]+" "+row["text"]]++
	}
	pages := map[string]string{}
	for text, w := range s.said {
		if n := stored[w.messageID+" "+text]; n != 1 {
			s.t.Errorf("%q is stored %d times", text, n)
		}
		if w.picture == nil {
			continue
		}
		if pages[w.link] == "" {
			status, page, ok := s.send(ctx, "GET", w.link, s.visitorHeaders(""), nil)
			if !ok || status != http.StatusOK {
				s.t.Errorf("the page of a link: %d", status)
				continue
			}
			pages[w.link] = string(page)
		}
		_, after, _ := strings.Cut(pages[w.link], html.EscapeString(text))
		found := pictureLink.FindStringSubmatch(after)
		if found == nil {
			s.t.Errorf("%q has lost its picture", text)
			continue
		}
		if status, got, ok := s.send(ctx, "GET", found[1], s.visitorHeaders(""), nil); !ok || status != http.StatusOK || !bytes.Equal(got, w.picture) {
			s.t.Errorf("picture of %q: %d, %d of %d bytes", text, status, len(got), len(w.picture))
		}
	}
	accepted := map[string]bool{}
	for _, row := range s.rowsOf(ctx, "commission_offers", "id", "&answer=eq.accepted&answered_name=eq.In%C3%AAs") {
		accepted[row["id"]] = true
	}
	for _, id := range s.accepted {
		if !accepted[id] {
			s.t.Errorf("the acceptance of %s is lost", id)
		}
	}
}

// verifyMails waits until all texts of the owner are mailed, except offers that were answered first. It checks that a mail that left twice
// had the same Message-ID: a program that was killed before it stored the server's answer cannot know whether the mail has left, and
// sends it again.
func (s *site) verifyMails(post *mailtest.Server) {
	ctx := s.t.Context()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		waiting := len(s.rowsOf(ctx, "contact_replies", "id", "&delivery=eq.queued"))
		if waiting == 0 {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d texts are not mailed", waiting)
		}
	}
	ids, again := map[string]map[string]bool{}, 0
	for _, received := range post.Mails() {
		if received.To != "ines@exemplo.example" {
			continue
		}
		m, err := mailtest.Open(received.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		_, text, found := strings.Cut(m.Text, "A word that must not be lost: ")
		if !found || len(text) < 36 {
			s.t.Errorf("a mail without a text: %s", m.Text)
			continue
		}
		text = "A word that must not be lost: " + text[:36]
		if ids[text] == nil {
			ids[text] = map[string]bool{}
		} else {
			again++
		}
		ids[text][m.Header.Get("Message-Id")] = true
	}
	answers := map[string]bool{} // by the id of an offer, which is also its text's
	for _, row := range s.rowsOf(ctx, "commission_offers", "id", "&answer=not.is.null") {
		answers[row["id"]] = true
	}
	delivery, answered := map[string]string{}, map[string]bool{}
	for _, row := range s.rowsOf(ctx, "contact_replies", "id,text,delivery", "") {
		delivery[row["text"]], answered[row["text"]] = row["delivery"], answers[row["id"]]
	}
	for text, w := range s.said {
		// The job of an offer mails nothing if the offer was answered first.
		unmailed := delivery[text] == "none" && answered[text]
		if w.mailed && !unmailed && (len(ids[text]) != 1 || delivery[text] != "sent") {
			s.t.Errorf("%q was mailed under %d ids: %v, and its delivery is %q", text, len(ids[text]), ids[text], delivery[text])
		}
	}
	s.t.Logf("%d texts of conversations, %d acceptances; %d mails, %d of them again under the same Message-ID", len(s.said), len(s.accepted), len(ids), again)
}

// whileDown runs a statement on the site's database. The program must not run.
func (s *site) whileDown(address, statement string, args ...any) {
	s.t.Helper()
	d, err := db.Open(s.t.Context(), address, db.NoHooks)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(db.Exec(s.t.Context(), d, statement, args...), d.Close()); err != nil {
		s.t.Fatal(err)
	}
}

// allowLinks lets visitors follow their messages.
func (s *site) allowLinks(address string) {
	s.t.Helper()
	s.whileDown(address, "insert into site_settings (key, value, updated_at) values ('site', $1, $2)", `{"name":"Alvor","enquiryLinks":true}`, time.Now())
}

// endLeases ends the leases on the jobs of a killed program, and the waits after interrupted tries, in place of waiting until they pass.
func (s *site) endLeases(address string) {
	s.t.Helper()
	s.whileDown(address, "update jobs set claim = null, leased_until = null, run_at = created_at where failed_at is null and tries > 0")
}

// Proves AM-reply-5.
//
// TestKilledBetweenAMailAndItsResult kills the program when the mail server has the whole mail, but the program does not know it yet: the mail
// is sent once more, under the same Message-ID, and then never again.
func TestKilledBetweenAMailAndItsResult(t *testing.T) {
	binary := build(t)
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			s := &site{t: t, binary: binary}
			var killAt atomic.Bool
			killed := make(chan struct{})
			post, err := mailtest.Start(mailtest.Options{OnReceive: func(m mailtest.Received) {
				if m.To == "ines@exemplo.example" && killAt.CompareAndSwap(true, false) {
					if err := s.process.Process.Signal(syscall.SIGKILL); err != nil {
						t.Error(err)
					}
					close(killed)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = post.Close() }) // a connection of a killed program may be left
			address := s.environment(dialect, post)
			s.keys()
			s.addOwner() // and with it the tables
			s.allowLinks(address)
			s.start()
			c := &conversation{}
			for range 2 { // the message, and the reading of its link
				if !s.converse(t.Context(), c) {
					t.Fatal("no conversation")
				}
			}
			killAt.Store(true)
			c.text = "A word that must not be lost: " + uuid.NewString()
			reply := c.text
			s.converse(t.Context(), c) // the kill may come before its response
			<-killed
			_ = s.process.Wait() // it always reports the kill
			s.endLeases(address)
			for range 2 { // the second start has nothing to do
				s.start()
				s.verifyMails(post)
				s.kill()
				s.endLeases(address)
			}
			count := 0
			for _, m := range post.Mails() {
				if bytes.Contains(m.Data, []byte(reply[len(reply)-36:])) {
					count++
				}
			}
			if count != 2 {
				t.Errorf("the reply was mailed %d times", count)
			}
		})
	}
}

// environment sets the program's settings, for a database of a kind and a mail server, and returns the address of the database.
func (s *site) environment(dialect db.Dialect, post *mailtest.Server) (address string) {
	dir := s.t.TempDir()
	s.env = []string{
		"ATELIE_DATA_DIR=" + dir, "ATELIE_LISTEN=127.0.0.1:0", "ATELIE_TRUSTED_PROXIES=127.0.0.1", "ATELIE_MESSAGES_PER_HOUR=0",
		"ATELIE_SMTP_URL=smtp://" + post.Address() + "?tls=none", "ATELIE_MAIL_FROM=Alvor <ola@alvor.example>",
	}
	if dialect == db.Postgres {
		address = dbtest.URL(s.t, dialect)
		s.env = append(s.env, "ATELIE_DATABASE_URL="+address)
		return address
	}
	return "sqlite:" + filepath.Join(dir, "atelie.db")
}
