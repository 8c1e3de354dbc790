package functions

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// export returns the file in the response of contact-export.
func (s *site) export(format string) []byte {
	s.t.Helper()
	rec := s.call("admin", "contact-export", `{"format":"`+format+`"}`)
	h := rec.Header()
	if rec.Code != 200 || h.Get("Content-Type") != "application/octet-stream" || h.Get("Cache-Control") != "no-store" ||
		h.Get("Content-Disposition") != `attachment; filename="messages-`+s.clock.Format(time.DateOnly)+"."+format+`"` {
		s.t.Fatalf("%d %v %.200s", rec.Code, h, rec.Body)
	}
	return rec.Body.Bytes()
}

// Proves AM-export-1, FN-export-file.
//
// TestExportHasEveryMessageOnce exports more messages than a page of the export has, many of them with equal times, and the quarantine.
func TestExportHasEveryMessageOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if got := string(s.export("json")); got != "[]\n" {
			t.Errorf("no message: %q", got)
		}
		const many = 2*exportPageSize + 7 // three pages
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			for i := range many {
				m := contactMessage{
					ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", many-i), Name: fmt.Sprintf("Ana %d", i), Email: "ana@exemplo.pt",
					Message: "Olá,\nsão \"duas\" linhas; sem mais.", Reason: "purchase", CreatedAt: s.clock.Add(time.Duration(i/100) * time.Second),
				}
				if err := insertInboxMessage(t.Context(), tx, m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.sendSpam(2)
		var list []exportedMessage
		if err := json.Unmarshal(s.export("json"), &list); err != nil {
			t.Fatal(err)
		}
		text := s.export("csv")
		if !bytes.HasPrefix(text, []byte("\uFEFFid,created_at,")) {
			t.Errorf("%.40q", text)
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(rows) != len(list)+1 || len(list) != many+2 {
			t.Fatalf("%d messages, %d lines, %v", len(list), len(rows), err)
		}
		seen := map[string]bool{}
		for i, m := range list {
			if seen[m.ID] || (i > 0 && i < many && m.CreatedAt.Before(list[i-1].CreatedAt)) {
				t.Fatalf("message %d: %+v", i, m)
			}
			seen[m.ID] = true
			row := rows[i+1]
			if row[0] != m.ID || row[1] != m.CreatedAt.Format(time.RFC3339) || row[2] != m.Name || row[3] != m.Email || row[5] != m.Status || row[6] != m.Message {
				t.Fatalf("%q and %+v", row, m)
			}
		}
		if m := list[0]; m.Status != "new" || m.Reason != "purchase" || m.Message != "Olá,\nsão \"duas\" linhas; sem mais." || !m.CreatedAt.Equal(s.clock.Add(-2*time.Minute)) {
			t.Errorf("%+v", m)
		}
		if m := list[many+1]; m.Name != "Bot 1" || m.Status != "quarantine" || m.Reason != "" {
			t.Errorf("%+v", m)
		}
	})
}

// Proves AM-export-2.
//
// TestCellsAreNoFormulas covers the start of a cell, and every position that a program with other separators could take for one.
func TestCellsAreNoFormulas(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "Ana": "Ana", "a=b": "a=b", "a - b": "a - b", "ana+rua@exemplo.pt": "ana+rua@exemplo.pt", "wall, 3 m; window": "wall, 3 m; window",
		"=1+1": "'=1+1", "+351 912": "'+351 912", "-3": "'-3", "@SUM(1)": "'@SUM(1)", " =1": " '=1", "\t=1": "'\t'=1", "\tAna": "'\tAna", "\rAna": "'\rAna", "\nAna": "'\nAna",
		"＝1+1": "'＝1+1", "＠a": "'＠a", "＋1": "'＋1", "－1": "'－1",
		"Ana;=1+1": "Ana;'=1+1", `x";"=cmd|' /C calc'!A0`: `x";"'=cmd|' /C calc'!A0`, "two\n=1": "two\n'=1", "a,-1": "a,'-1", "a|+1": "a|'+1", "'=1": "''=1", "\n\n- a": "'\n\n'- a",
	} {
		if got := escapeCell(given); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
	s := newSite(t, dbtest.Open(t, db.SQLite))
	for _, who := range []string{"anon", "user"} {
		s.call(who, "submit-contact", body(t, map[string]any{"name": "=HYPERLINK(1)", "email": "-1@exemplo.pt", "message": "=1+1;=2+2\n@SUM(A1)"}))
	}
	text := string(s.export("csv"))
	if rows, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil || len(rows) != 3 || rows[1][2] != "'=HYPERLINK(1)" || rows[1][3] != "'-1@exemplo.pt" || rows[1][6] != "'=1+1;'=2+2\n'@SUM(A1)" {
		t.Errorf("%q %v", rows, err)
	}
	if !strings.Contains(string(s.export("json")), `"message":"=1+1;=2+2\n@SUM(A1)"`) {
		t.Error("the JSON is not exact")
	}
}

// FuzzTextCell searches for text that a spreadsheet would run as a formula, with any separator.
func FuzzTextCell(f *testing.F) {
	f.Add("=1;\t@a\n\"+b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, cell := range strings.FieldsFunc(escapeCell(text), func(r rune) bool { return strings.ContainsRune(",;|\t\r\n", r) }) {
			if start := strings.TrimLeft(cell, " \""); start != "" && strings.Contains("=+-@＝＋－＠", string([]rune(start)[:1])) {
				t.Errorf("%q: %q", text, cell)
			}
		}
	})
}

// Proves FN-export-file.
//
// TestFailedExportClosesTheConnection checks that an error after the first bytes closes the connection, and an error before them is an ordinary
// response.
func TestFailedExportClosesTheConnection(t *testing.T) {
	cause := errors.New("the disk is gone")
	for _, size := range []int{10, 1 << 20} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out := startExportFile(w, "messages.csv")
			if _, err := out.Write(make([]byte, size)); err != nil {
				t.Error(err)
			}
			if err := out.end(r.Context(), cause); err == nil {
				t.Error("no error")
			}
			w.WriteHeader(http.StatusInternalServerError)
		}))
		response, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		_, err = got.ReadFrom(response.Body)
		_ = response.Body.Close()
		server.Close()
		if small := size == 10; small != (response.StatusCode == 500 && err == nil && got.Len() == 0 && response.Header.Get("Content-Disposition") == "") {
			t.Errorf("%d bytes: %d, %d bytes arrived, %v", size, response.StatusCode, got.Len(), err)
		}
		if size > 10 && err == nil {
			t.Error("an incomplete file looks complete")
		}
	}
}
