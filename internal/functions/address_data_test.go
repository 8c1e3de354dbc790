package functions

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/settings"
)

// addressCounts calls address-data. It returns the places in the response as "name count, name count", and whether a setting has the address.
func (s *site) addressCounts(action, address string) (places string, inSettings bool) {
	s.t.Helper()
	rec := s.call("admin", "address-data", `{"action":"`+action+`","address":"`+address+`"}`)
	var response addressResponse
	if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || rec.Code != 200 || !response.Success || rec.Header().Get("Cache-Control") != "no-store" {
		s.t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
	}
	var list []string
	for _, p := range response.Places {
		list = append(list, fmt.Sprintf("%s %d", p.Name, p.Count))
	}
	return strings.Join(list, ", "), response.Settings
}

// Proves AM-address-1, FN-address-find.
func TestMessagesOfAnAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i, email := range []string{"ines@exemplo.pt", "Ines@Exemplo.PT", "xines@exemplo.pt", "ines@exemplo.pt.example", "i_es@exemplo.pt"} {
			s.clock = s.clock.Add(time.Minute)
			message := fmt.Sprintf("Gosto do mural %d. Escreva a ines@exemplo.pt", i)
			if rec := s.call("anon", "submit-contact", body(t, map[string]any{"name": "Inês", "email": email, "message": message})); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		for _, email := range []string{"ines@exemplo.pt", "bot@exemplo.pt"} {
			s.call("anon", "submit-contact", body(t, map[string]any{"name": "Bot", "email": email, "message": "Buy my watches now", "reason": "x"}))
		}
		// Two more notices: one to the address, about the message of another address, and one to an owner, about a message of the address.
		ofAnotherAddress, err := db.One[string](t.Context(), d, "select id from contact_submissions where email = 'xines@exemplo.pt'")
		if err != nil {
			t.Fatal(err)
		}
		ofTheAddress, err := db.One[string](t.Context(), d, "select id from contact_submissions where email = 'ines@exemplo.pt'")
		if err != nil {
			t.Fatal(err)
		}
		err = d.WithTx(t.Context(), func(tx *db.Tx) error {
			_, first := insertNotice(t.Context(), tx, notice{ID: noID, MessageID: ofAnotherAddress, Channel: channelMail, Recipient: "Ines@exemplo.pt", Language: "en"}, s.clock)
			_, second := insertNotice(t.Context(), tx, notice{ID: strings.ReplaceAll(noID, "9", "8"), MessageID: ofTheAddress, Channel: channelMail, Recipient: "owner@alvor.example", Language: "en"}, s.clock)
			_, third := claimThanks(t.Context(), tx, hashMailbox("ines@exemplo.pt"), s.clock, s.clock.Add(-thanksInterval))
			return errors.Join(first, second, third, settings.Insert(t.Context(), tx, "notice.email", []string{"INES@exemplo.pt"}, s.clock))
		})
		if err != nil {
			t.Fatal(err)
		}

		const want = "messages 2, quarantine 1, notices 4" // the four are one of each message, and the two above
		if got, inSettings := s.addressCounts("find", " INES@exemplo.pt "); got != want || !inSettings {
			t.Errorf("found %s, in the settings: %v", got, inSettings)
		}
		if got, inSettings := s.addressCounts("", "nobody@exemplo.pt"); got != "messages 0, quarantine 0, notices 0" || inSettings {
			t.Errorf("found %s, in the settings: %v", got, inSettings)
		}

		rec := s.call("admin", "address-data", `{"action":"export","address":"ines@exemplo.pt"}`)
		var file struct {
			Address              string
			At                   time.Time `json:"exported_at"`
			Messages, Quarantine []exportedMessage
			Notices              []exportedNotice
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &file); err != nil || rec.Header().Get("Content-Disposition") != `attachment; filename="address-2026-03-12.json"` || rec.Header().Get("Content-Type") != "application/octet-stream" {
			t.Fatalf("%v %v %s", err, rec.Header(), rec.Body)
		}
		if file.Address != "ines@exemplo.pt" || !file.At.Equal(s.clock) || len(file.Messages) != 2 || len(file.Quarantine) != 1 || len(file.Notices) != 4 ||
			file.Messages[0].Message != "Gosto do mural 0. Escreva a ines@exemplo.pt" || file.Quarantine[0].Name != "Bot" {
			t.Errorf("%s", rec.Body)
		}
		if text := rec.Body.String(); strings.Contains(text, "owner@alvor.example") || !strings.Contains(text, `"recipient":"Ines@exemplo.pt"`) {
			t.Errorf("recipients: %s", text)
		}
		rec = s.call("service", "address-data", `{"action":"export","address":"nobody@exemplo.pt"}`)
		if got := rec.Body.String(); !strings.HasSuffix(got, ",\n\"messages\":[],\n\"quarantine\":[],\n\"notices\":[]}\n") || !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%s", got)
		}

		if got, _ := s.addressCounts("erase", "ines@exemplo.pt"); got != want {
			t.Errorf("erased %s", got)
		}
		if got, _ := s.addressCounts("find", "ines@exemplo.pt"); got != "messages 0, quarantine 0, notices 0" {
			t.Errorf("left: %s", got)
		}
		if left, aside := s.stored("contact_submissions"), s.stored("contact_quarantine"); len(left) != 3 || len(aside) != 1 || aside[0][1] != "bot@exemplo.pt" {
			t.Errorf("%q, %q", left, aside)
		}
		for query, want := range map[string]int{"select count(*) from contact_notices": 3, "select count(*) from contact_thanked": 0, "select count(*) from jobs where about = '" + ofTheAddress + "'": 0} {
			if n, err := db.One[int](t.Context(), d, query); err != nil || n != want {
				t.Errorf("%s: %d, %v", query, n, err)
			}
		}
	})
}

// Proves AM-address-2, FN-address-role.
func TestAddressOfAnAccountWithARoleIsRefused(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	s.call("anon", "submit-contact", body(t, map[string]any{"name": "Ana", "email": "owner@exemplo.pt", "message": "Is the form working?"}))
	for _, action := range []string{"find", "export", "erase"} {
		answered(t, s.call("admin", "address-data", `{"action":"`+action+`","address":"Owner@exemplo.pt"}`), 409,
			`{"success":false,"error":"This address belongs to an account with a role. Take the role away first (atelie owner remove), or delete its messages one by one."}`)
	}
	if len(s.stored("contact_submissions")) != 1 {
		t.Error("the message is gone")
	}
}
