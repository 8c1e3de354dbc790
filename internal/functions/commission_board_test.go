package functions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// board calls commission-board as the owner, and returns the columns by stage. all has the stages of which all commissions are requested.
func (s *site) board(all ...string) map[string]boardColumn {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"all": all})
	if err != nil {
		s.t.Fatal(err)
	}
	rec := s.call("admin", "commission-board", string(body))
	var state boardState
	if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil || rec.Code != 200 || rec.Header().Get("Cache-Control") != "no-store" {
		s.t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	columns := map[string]boardColumn{}
	for i, c := range state.Columns {
		if c.Stage != boardStages[i] {
			s.t.Errorf("column %d is %s", i, c.Stage)
		}
		columns[c.Stage] = c
	}
	return columns
}

// names returns the names on the cards of a column.
func (c boardColumn) names() string {
	var names []string
	for _, card := range c.Cards {
		names = append(names, card.Name)
	}
	return strings.Join(names, " ")
}

// addCommission stores a message, and its commission unless the stage is "".
func (s *site) addCommission(name, reason, stage, promised string) (id string) {
	s.t.Helper()
	id = uuid.NewString()
	s.clock = s.clock.Add(time.Minute)
	s.exec("insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, $2, 'a@exemplo.example', 'A wall, please.', $3, 'read', $4)", id, name, reason, s.clock)
	if stage != "" {
		s.exec("insert into commissions (message_id, stage, stage_at, promised_on) values ($1, $2, $3, $4)", id, stage, s.clock, nullIfEmpty(promised))
	}
	return id
}

func (s *site) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.d.Exec(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// Proves FN-board-list, BOARD-cards.
func TestTheBoardHasEachCommissionInItsStage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		empty := s.board()
		for _, stage := range boardStages {
			if c := empty[stage]; c.Total != 0 || c.Cards == nil || len(c.Next) == 0 {
				t.Errorf("got %+v", c)
			}
		}
		undecided := s.addCommission("Ana", "commission", "", "")
		s.addCommission("Bia", "general", "", "") // asks for none
		done := s.addCommission("Caio", "commission", "", "")
		s.addCommission("Davi", "general", "enquiry", "")
		s.addCommission("Eva", "commission", "offer", "")
		s.addCommission("Fabio", "commission", "accepted", "")
		s.addCommission("Gil", "commission", "accepted", "2026-09-01")
		s.addCommission("Hugo", "commission", "accepted", "2026-06-01")
		s.addCommission("Ivo", "purchase", "declined", "")
		s.exec("update contact_submissions set done_at = $2 where id = $1", done, s.clock)
		s.exec("update contact_submissions set status = 'new' where id = $1", undecided)
		columns := s.board()
		for stage, want := range map[string]string{"enquiry": "Davi Ana", "offer": "Eva", "accepted": "Hugo Gil Fabio", "in_progress": "", "finished": "", "declined": "Ivo"} {
			if c := columns[stage]; c.names() != want || c.Total != len(c.Cards) || fmt.Sprint(c.Next) != fmt.Sprint(nextStages[stage]) {
				t.Errorf("%s: %+v", stage, c)
			}
		}
		if c := columns["enquiry"].Cards; c[0].Unread || !c[1].Unread || c[1].MessageID != undecided || c[1].ArtworkID != nil || c[1].CreatedAt.Before(s.clock.Add(-time.Hour)) {
			t.Errorf("%+v", c)
		}
		if c := columns["accepted"].Cards; c[0].PromisedOn != "2026-06-01" || c[2].PromisedOn != "" {
			t.Errorf("%+v", c)
		}
		// A move through the commission function is on the board.
		s.mustCallCommission("stage", undecided, "stage", "accepted", "from", "enquiry")
		if columns := s.board(); columns["enquiry"].names() != "Davi" || !strings.Contains(columns["accepted"].names(), "Ana") {
			t.Errorf("%+v", columns)
		}
	})
}

// Proves FN-board-list.
func TestTheBoardHasThePriceOfTheAcceptedOffer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSiteWith(t, d, Config{MailServer: true})
		s.setSite(terms("", ""))
		path := s.sendMessageWithLink("en", "commission")
		id := s.messageID()
		s.mustCallCommission("offer", id, "id", "one", "text", "x", "price", "300 €")
		s.clock = s.clock.Add(time.Hour)
		s.mustCallCommission("offer", id, "id", "two", "text", "x", "price", "250 €")
		if c := s.board()["offer"].Cards; len(c) != 1 || c[0].Price != "250 €" {
			t.Fatalf("%+v", c)
		}
		var offer string
		s.scan(&offer, "select id from commission_offers where price_text = '250 €'")
		s.post(path, "action", "answer", "offer", offer, "answer", "accepted", "name", "Rui")
		if c := s.board()["accepted"].Cards; len(c) != 1 || c[0].Price != "250 €" {
			t.Errorf("%+v", c)
		}
		s.mustCallCommission("stage", id, "stage", "declined")
		s.mustCallCommission("stage", id, "stage", "enquiry")
		if c := s.board()["enquiry"].Cards; len(c) != 1 || c[0].Price != "" {
			t.Errorf("%+v", c)
		}
	})
}

// Proves FN-board-bounds.
func TestTheBoardIsBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 130 {
			s.addCommission(fmt.Sprintf("F%d", i), "commission", "finished", "")
			s.addCommission(fmt.Sprintf("E%d", i), "commission", []string{"", "enquiry"}[i%2], "")
		}
		columns := s.board()
		if c := columns["finished"]; c.Total != 130 || len(c.Cards) != maxClosedCards || c.Cards[0].Name != "F129" || c.Cards[19].Name != "F110" {
			t.Errorf("%d %d %s", c.Total, len(c.Cards), c.names())
		}
		if c := columns["enquiry"]; c.Total != 130 || len(c.Cards) != maxOpenCards || c.Cards[0].Name != "E129" || c.Cards[99].Name != "E30" {
			t.Errorf("%d %d %s", c.Total, len(c.Cards), c.names())
		}
		if columns := s.board("finished"); len(columns["finished"].Cards) != 130 || len(columns["enquiry"].Cards) != maxOpenCards {
			t.Error("the rest is not listed")
		}
	})
}

// Proves FN-board-who.
func TestTheBoardIsForOwnersAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for who, want := range map[string]int{"anon": 403, "user": 403, "admin": 200, "service": 200, "nobody": 401, "forged": 401, "expired": 401} {
			if rec := s.call(who, "commission-board", "{}"); rec.Code != want {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
		}
		for body, want := range map[string]int{`{"all":["sold"]}`: 400, `{"all":[""]}`: 400, `{"all":"offer"}`: 400, `[`: 400, `{"all":["offer","offer"]}`: 200, `{"all":null}`: 200, "": 200} {
			if rec := s.call("admin", "commission-board", body); rec.Code != want {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
		}
	})
}
