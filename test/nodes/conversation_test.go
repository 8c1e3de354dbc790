//go:build !race

package nodes

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/mail/mailtest"
)

const visitorEmail = "ines@exemplo.example"

var pictureLink = regexp.MustCompile(`<a href="([^"]*/picture/[0-9a-f-]{36})"`)

// sendMessage sends a message through a node. It returns the path of its private link, and its id.
func (c *cluster) sendMessage(t *testing.T, n *node) (link, id string) {
	t.Helper()
	text := "Is the wall still free? " + uuid.NewString()
	var response struct {
		URL string `json:"enquiry_url"`
	}
	body := toJSON(map[string]any{"name": "Inês", "email": visitorEmail, "message": text, "follow": true})
	call{method: "POST", url: n.url() + "/functions/v1/submit-contact", bearer: c.anon, header: anyAddress(), body: body}.must(t, http.StatusOK).read(t, &response)
	link, found := strings.CutPrefix(response.URL, c.url)
	if !found {
		t.Fatalf("the link is %q", response.URL)
	}
	var rows []struct{ ID string }
	call{method: "GET", url: n.url() + "/rest/v1/contact_submissions?select=id&message=eq." + url.QueryEscape(text), bearer: c.service}.must(t, http.StatusOK).read(t, &rows)
	if len(rows) != 1 {
		t.Fatalf("%d messages", len(rows))
	}
	return link, rows[0].ID
}

// anyAddress returns the header of a request from a random IP address.
func anyAddress() map[string]string {
	return map[string]string{"X-Forwarded-For": fmt.Sprintf("10.%d.%d.%d", 20+rand.IntN(200), rand.IntN(250), rand.IntN(250))}
}

// write sends a visitor's text through a node. The client follows the redirect to the page.
func (c *cluster) write(n *node, link string, fields url.Values) call {
	header := anyAddress()
	header["Content-Type"] = "application/x-www-form-urlencoded"
	return call{method: "POST", url: n.url() + link, header: header, body: []byte(fields.Encode())}
}

func (c *cluster) page(n *node, link string) call {
	return call{method: "GET", url: n.url() + link, header: anyAddress()}
}

// conversations goes through a conversation, and sends each of its requests to another node than the one before.
func (c *cluster) conversations(t *testing.T) {
	first, second, third := c.nodes[0], c.nodes[1], c.nodes[2]
	var settings struct{ Version string }
	call{method: "POST", url: first.url() + "/rest/v1/rpc/get_site_settings", bearer: c.service, header: map[string]string{"Content-Type": "application/json"}, body: []byte("{}")}.must(t, http.StatusOK).read(t, &settings)
	call{
		method: "POST", url: second.url() + "/rest/v1/rpc/save_site_settings", bearer: c.service, header: map[string]string{"Content-Type": "application/json"},
		body: toJSON(map[string]any{"version": settings.Version, "settings": map[string]any{"site": map[string]any{"enquiryLinks": true}}}),
	}.must(t, http.StatusOK)

	owner := c.signIn(t, third.url())
	live, err := watchTable(t.Context(), third.url(), c.anon, owner.Access, "INSERT", "contact_replies")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = live.conn.CloseNow() }() // everything needed has been read
	awaitInsert := func(what string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), maxWait)
		defer cancel()
		id, err := live.inserted(ctx)
		if err != nil {
			t.Fatalf("%s is not told live: %v", what, err)
		}
		return id
	}
	shownOn := func(n *node, link, text string) *response {
		t.Helper()
		a := c.page(n, link).must(t, http.StatusOK)
		if !bytes.Contains(a.body, []byte(html.EscapeString(text))) {
			t.Fatalf("%s does not show %q:\n%s", n.address, text, a.body)
		}
		return a
	}

	link, id := c.sendMessage(t, first)
	shownOn(second, link, "Is the wall still free?")

	// The same reply, sent through two nodes at the same time, is one reply, and one mail.
	answerText := "It is, until May. " + uuid.NewString()
	var sending sync.WaitGroup
	for _, n := range []*node{second, third} {
		sending.Go(func() {
			a, err := call{
				method: "POST", url: n.url() + "/functions/v1/contact-reply", bearer: owner.Access,
				body: toJSON(map[string]string{"action": "reply", "message_id": id, "id": "once", "text": answerText}),
			}.send(t.Context())
			if err != nil || a.status != http.StatusOK {
				t.Errorf("reply through %s: %v %+v", n.address, err, a)
			}
		})
	}
	sending.Wait()
	reply := awaitInsert("the reply")
	for _, n := range c.nodes {
		if a := shownOn(n, link, answerText); bytes.Count(a.body, []byte(answerText)) != 1 {
			t.Errorf("%s shows the reply more than once", n.address)
		}
	}

	// A text with a picture arrives on one node, and is read on the others.
	photo := picture(50_000)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("text", "This wall."); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="picture"; filename="a.png"`}})
	if err == nil {
		_, err = part.Write(photo)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	header := anyAddress()
	header["Content-Type"] = w.FormDataContentType()
	call{method: "POST", url: first.url() + link, header: header, body: b.Bytes()}.must(t, http.StatusOK)
	if next := awaitInsert("the visitor's text"); next == reply {
		t.Error("the reply was told twice")
	}
	found := pictureLink.FindSubmatch(shownOn(second, link, "This wall.").body)
	if found == nil {
		t.Fatal("no picture")
	}
	if a := c.page(third, string(found[1])).must(t, http.StatusOK); !bytes.Equal(a.body, photo) {
		t.Errorf("the picture has %d of %d bytes", len(a.body), len(photo))
	}

	// An offer of one node is accepted on another.
	var state struct{ Offers []struct{ ID, State string } }
	offer := map[string]string{"action": "offer", "message_id": id, "id": "offer", "text": "The whole wall.", "price": "300 €", "promised_on": "2199-05-04"}
	call{method: "POST", url: first.url() + "/functions/v1/commission", bearer: owner.Access, body: toJSON(offer)}.must(t, http.StatusOK).read(t, &state)
	if len(state.Offers) != 1 {
		t.Fatalf("%+v", state)
	}
	awaitInsert("the offer")
	shownOn(third, link, "The whole wall.")
	// An offer that is answered before its mail has left is not mailed.
	for begin := time.Now(); ; {
		var rows []struct{ Delivery string }
		call{method: "GET", url: first.url() + "/rest/v1/contact_replies?select=delivery&author=eq.owner&message_id=eq." + id, bearer: c.service}.must(t, http.StatusOK).read(t, &rows)
		if len(rows) == 2 && rows[0].Delivery == "sent" && rows[1].Delivery == "sent" {
			break
		}
		if time.Since(begin) > 5*time.Minute { // only ends a hang
			t.Fatalf("not mailed: %+v", rows)
		}
	}
	c.write(second, link, url.Values{"action": {"answer"}, "answer": {"accepted"}, "offer": {state.Offers[0].ID}, "name": {"Inês"}}).must(t, http.StatusOK)
	awaitInsert("the answer")
	call{method: "POST", url: third.url() + "/functions/v1/commission", bearer: owner.Access, body: toJSON(map[string]string{"message_id": id})}.must(t, http.StatusOK).read(t, &state)
	if state.Offers[0].State != "accepted" {
		t.Errorf("%+v", state)
	}
	c.write(first, link, url.Values{"action": {"answer"}, "answer": {"declined"}, "offer": {state.Offers[0].ID}}).must(t, http.StatusConflict)

	t.Run("the board", func(t *testing.T) { c.board(t, owner.Access, id) })
	t.Run("a calendar", func(t *testing.T) { c.calendar(t, owner.Access, id) })
	t.Run("one mail", func(t *testing.T) {
		var mailed []string
		for _, received := range c.mailServer.Mails() {
			if received.To != visitorEmail {
				continue
			}
			m, err := mailtest.Open(received.Data)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(m.Text, c.url+link) {
				t.Errorf("no link: %s", m.Text)
			}
			mailed = append(mailed, m.Subject)
		}
		if len(mailed) != 2 { // the reply and the offer
			t.Errorf("mailed: %q", mailed)
		}
	})

	t.Run("limits", func(t *testing.T) {
		const allowed = 10 // texts a minute at a link
		for {
			link, _ := c.sendMessage(t, first)
			begin := time.Now()
			var got []int
			for i := range allowed + 3 {
				a, err := c.write(c.nodes[i%3], link, url.Values{"text": {"Hello?"}, "id": {"same"}}).send(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, a.status)
			}
			if begin.Truncate(time.Minute) != time.Now().Truncate(time.Minute) {
				continue // the window ended meanwhile, and with it the count
			}
			for i, status := range got {
				if want := http.StatusOK; i < allowed && status != want || i >= allowed && status != http.StatusTooManyRequests {
					t.Fatalf("text %d: %d: %v", i+1, status, got)
				}
			}
			return
		}
	})

	// A link that ends on one node has ended on all.
	c.write(third, link, url.Values{"action": {"erase"}, "confirm": {"yes"}}).must(t, http.StatusOK)
	for _, n := range c.nodes {
		c.page(n, link).must(t, http.StatusNotFound)
		c.page(n, string(found[1])).must(t, http.StatusNotFound)
	}
}

// board moves an accepted commission on one node; another node reports the move live, and a third one shows it.
func (c *cluster) board(t *testing.T, token, id string) {
	moved, err := watchTable(t.Context(), c.nodes[2].url(), c.anon, token, "UPDATE", "commissions")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = moved.conn.CloseNow() }() // everything needed has been read
	move := map[string]string{"action": "stage", "message_id": id, "stage": "in_progress", "from": "accepted"}
	call{method: "POST", url: c.nodes[0].url() + "/functions/v1/commission", bearer: token, body: toJSON(move)}.must(t, http.StatusOK)
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	var row struct {
		MessageID string `json:"message_id"`
		Stage     string
	}
	if err := moved.changed(ctx, &row); err != nil || row.MessageID != id || row.Stage != "in_progress" {
		t.Errorf("the move is reported as %+v: %v", row, err)
	}
	var board struct {
		Columns []struct {
			Stage string
			Cards []struct {
				MessageID string `json:"message_id"`
			}
		}
	}
	call{method: "POST", url: c.nodes[1].url() + "/functions/v1/commission-board", bearer: token, body: []byte("{}")}.must(t, http.StatusOK).read(t, &board)
	var shown []string
	for _, column := range board.Columns {
		for _, card := range column.Cards {
			if card.MessageID == id {
				shown = append(shown, column.Stage)
			}
		}
	}
	if len(shown) != 1 || shown[0] != "in_progress" {
		t.Errorf("the board of another node shows it in %q", shown)
	}
}

// calendar checks that the URL of a calendar works on all nodes, and that it ends on all of them when it is replaced or removed on one.
func (c *cluster) calendar(t *testing.T, token, id string) {
	feed := func(n *node, action string) (path string) {
		t.Helper()
		var state struct{ Calendar *struct{ URL string } }
		body := toJSON(map[string]string{"action": action, "language": "en"})
		call{method: "POST", url: n.url() + "/functions/v1/calendar-feed", bearer: token, body: body}.must(t, http.StatusOK).read(t, &state)
		if state.Calendar == nil {
			return ""
		}
		path, found := strings.CutPrefix(state.Calendar.URL, c.url)
		if !found {
			t.Fatalf("the calendar is at %q", state.Calendar.URL)
		}
		return path
	}
	onAll := func(path string, want int) {
		t.Helper()
		for _, n := range c.nodes {
			if a := c.page(n, path).must(t, want); (want == http.StatusOK) != bytes.Contains(a.body, []byte("UID:"+id)) {
				t.Errorf("%s: %s", n.address, a.body)
			}
		}
	}
	made := feed(c.nodes[0], "create")
	onAll(made, http.StatusOK)
	replaced := feed(c.nodes[1], "replace")
	onAll(made, http.StatusNotFound)
	onAll(replaced, http.StatusOK)
	if path := feed(c.nodes[2], "remove"); path != "" {
		t.Errorf("there is still %s", path)
	}
	onAll(replaced, http.StatusNotFound)
}
