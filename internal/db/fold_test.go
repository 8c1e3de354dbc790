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

func TestFoldMatchesBothDatabases(t *testing.T) {
	var all strings.Builder // the printable characters up to U+3000
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
		upper, lower := db.FoldTranslation(db.Fold(text))
		var folded string
		if err := d.QueryRow(t.Context(), "select translate(lower(description), $1, $2) from products", upper, lower).Scan(&folded); err != nil {
			t.Fatal(err)
		}
		if folded != db.Fold(text) {
			t.Errorf("the database folds to\n%s\nand Go to\n%s", folded, db.Fold(text))
		}
		var foldedNull *string
		if err := d.QueryRow(t.Context(), "select translate(lower(medium), $1, $2) from products", "É", "é").Scan(&foldedNull); err != nil || foldedNull != nil {
			t.Errorf("null folds to %v, %v", foldedNull, err)
		}
	})
}

func TestFoldLettersWithAccentsAndOtherAlphabets(t *testing.T) {
	if got := db.Fold("ÁGUA, AÇÃO, PÔR-DO-SOL, ŁÓDŹ, ΑΘΉΝΑ, МОСКВА, Ÿ, ß, İ"); got != "água, ação, pôr-do-sol, łódź, αθήνα, москва, ÿ, ß, İ" {
		t.Errorf("got %s", got)
	}
}

func TestFoldTranslationHasOnlyLettersOfThePattern(t *testing.T) {
	for pattern, want := range map[string][2]string{"%agua_": {"", ""}, "%água%ç": {"ÁÇ", "áç"}, "ß😀": {"", ""}} {
		upper, lower := db.FoldTranslation(pattern)
		if upper != want[0] || lower != want[1] {
			t.Errorf("%s: got %s for %s, want %v", pattern, upper, lower, want)
		}
	}
}
