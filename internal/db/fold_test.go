package db_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestFoldingIsTheSameInGoAndInBothEngines(t *testing.T) {
	var all strings.Builder
	for r := rune(1); r < 0x3000; r++ {
		if unicode.IsPrint(r) {
			all.WriteRune(r)
		}
	}
	text := all.String()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), "insert into products (id, title, description, created_at) values ($1, 'A', $2, $3)", uuid.NewString(), text, time.Now()); err != nil {
			t.Fatal(err)
		}
		capitals, small := db.FoldTranslation(db.Fold(text))
		var folded string
		if err := d.QueryRow(t.Context(), "select translate(lower(description), $1, $2) from products", capitals, small).Scan(&folded); err != nil {
			t.Fatal(err)
		}
		if folded != db.Fold(text) {
			t.Errorf("the database folds to\n%s\nand Go to\n%s", folded, db.Fold(text))
		}
		var none *string
		if err := d.QueryRow(t.Context(), "select translate(lower(medium), $1, $2) from products", "É", "é").Scan(&none); err != nil || none != nil {
			t.Errorf("null folds to %v, %v", none, err)
		}
	})
}

func TestFoldKnowsTheLettersOfBothLanguages(t *testing.T) {
	if got := db.Fold("ÁGUA, AÇÃO, PÔR-DO-SOL, ŁÓDŹ, ΑΘΉΝΑ, МОСКВА, Ÿ, ß, İ"); got != "água, ação, pôr-do-sol, łódź, αθήνα, москва, ÿ, ß, İ" {
		t.Errorf("got %s", got)
	}
}

func TestFoldLettersAreThoseOfThePattern(t *testing.T) {
	for pattern, want := range map[string][2]string{"%agua_": {"", ""}, "%água%ç": {"ÁÇ", "áç"}, "ß😀": {"", ""}} {
		capitals, small := db.FoldTranslation(pattern)
		if capitals != want[0] || small != want[1] {
			t.Errorf("%s: got %s for %s, want %v", pattern, capitals, small, want)
		}
	}
}
