package supabase

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelie/internal/imported"
)

// dumpOf writes a dump with the given text and opens it.
func dumpOf(t testing.TB, text string) *Dump {
	t.Helper()
	file := filepath.Join(t.TempDir(), "dump.sql")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := NewDump(file, DumpFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rowsIn returns the rows of a table in a dump as texts.
func rowsIn(d *Dump, table string) (rows []string, err error) {
	err = d.Rows(context.Background(), table, func(row map[string]any) error {
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(row)) {
			fields = append(fields, fmt.Sprintf("%s=%#v", name, row[name]))
		}
		rows = append(rows, strings.Join(fields, " "))
		return nil
	})
	return rows, err
}

// Proves H-supabase-hostile.
func TestDumpRows(t *testing.T) {
	for name, c := range map[string]struct {
		dump string
		want []string
	}{
		"copy":              {"COPY public.products (id, title) FROM stdin;\n1\ta\\tb\\nc\\\\N\n2\t\\N\n\\.\n", []string{`id="1" title="a\tb\nc\\N"`, `id="2" title=<nil>`}},
		"copy of Windows":   {"COPY public.products (id) FROM stdin;\r\n1\r\n\\.\r\n", []string{`id="1"`}},
		"octal and hex":     {"COPY public.products (id) FROM stdin;\n\\101\\x42\\x4g\\q\\b\n\\.\n", []string{`id="AB\x04gq\b"`}},
		"no rows":           {"COPY public.products (id) FROM stdin;\n\\.\n", nil},
		"quoted":            {`COPY "public"."products" ("id", "Weird "" name") FROM stdin;` + "\n1\t2\n\\.\n", []string{`Weird " name="2" id="1"`}},
		"inserts":           {"CREATE TABLE public.products (\n id uuid DEFAULT f(1, ';'),\n \"check\" text,\n price numeric(10,2),\n CONSTRAINT c CHECK ((price > (0)::numeric))\n);\nINSERT INTO public.products VALUES ('1', 'it''s; -- \\', -1.5e+3), ('2', NULL, DEFAULT);", []string{`check="it's; -- \\" id="1" price="-1.5e+3"`, `check=<nil> id="2"`}},
		"column inserts":    {`INSERT INTO "public"."products" ("id", "ok") OVERRIDING SYSTEM VALUE VALUES` + "\n\t('1', true),\n\t('2', false) ON CONFLICT DO NOTHING;", []string{`id="1" ok="true"`, `id="2" ok="false"`}},
		"psql commands":     {"\\restrict x'y\nCOPY public.products (id) FROM stdin;\n1\n\\.\n\\unrestrict x'y\n", []string{`id="1"`}},
		"other tables":      {"COPY public.other (a) FROM stdin;\nCOPY public.products (id) FROM stdin;\n\\.\nINSERT INTO public.other VALUES (');INSERT INTO public.products VALUES (1);');COPY public.products (id) FROM stdin;\n1\n\\.\n", []string{`id="1"`}},
		"comments":          {"-- INSERT INTO public.products VALUES ('x');\n/* /* COPY */ INSERT INTO public.products (id) VALUES ('x'); */ INSERT INTO public.products (id) VALUES ('1');", []string{`id="1"`}},
		"functions":         {"CREATE FUNCTION public.f() AS $a$ $b$;INSERT INTO public.products (id) VALUES ('x'); $a$;CREATE FUNCTION g() BEGIN ATOMIC INSERT INTO public.products (id) VALUES ('x'); SELECT CASE WHEN a THEN b END; END;INSERT INTO public.products (id) VALUES ('1');", []string{`id="1"`}},
		"escapes elsewhere": {`SELECT E'\';INSERT INTO public.products (id) VALUES (''x'');';INSERT INTO public.products (id) VALUES ('1');`, []string{`id="1"`}},
		"other schemas":     {"INSERT INTO evil.products (id) VALUES ('x');INSERT INTO products (id) VALUES ('x');INSERT INTO public.products (id) VALUES ('1');", []string{`id="1"`}},
		"if not exists":     {`CREATE TABLE IF NOT EXISTS "public"."products" ("id" "uuid" NOT NULL, "a" text);INSERT INTO "public"."products" VALUES ('1', 'b');`, []string{`a="b" id="1"`}},
	} {
		if got, err := rowsIn(dumpOf(t, c.dump), "products"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, c.want)
		}
	}
}

func TestDumpsThatCannotBeReadAreRefused(t *testing.T) {
	for want, dump := range map[string]string{
		"values and the table 2 columns": "COPY public.products (id, b) FROM stdin;\n1\n\\.\n",
		"do not end":                     "COPY public.products (id) FROM stdin;\n1\n",
		"are missing":                    "COPY public.products (id) FROM stdin;",
		"within an escape":               "COPY public.products (id) FROM stdin;\n1\\\n\\.\n",
		"more values":                    "INSERT INTO public.products (id) VALUES (1, 2);",
		"has 1 values":                   "INSERT INTO public.products (id, b) VALUES (1);",
		"a value cannot be read":         "INSERT INTO public.products (id) VALUES (f(1));",
		"are not listed":                 "INSERT INTO public.products VALUES (1);",
		"in quotes does not end":         "INSERT INTO public.products (id) VALUES ('1);",
		"a statement does not end":       "INSERT INTO public.products (id) VALUES (1)",
		"a comment does not end":         "/* x",
		"between $x$ does not end":       "SELECT $x$",
		"pg_dump --encoding=UTF8":        "SET client_encoding = 'LATIN1';",
		"must be on":                     "SET standard_conforming_strings = off;",
		"more than 8 MB":                 "INSERT INTO public.products (id) VALUES ('" + strings.Repeat("x", maxValueBytes+1) + "');",
		"a line has more than 8 MB":      "COPY public.products (id) FROM stdin;\n" + strings.Repeat("x", maxValueBytes+1<<20) + "\n\\.\n",
		"only INSERT with VALUES":        "INSERT INTO public.products SELECT 1;",
	} {
		if rows, err := rowsIn(dumpOf(t, dump), "products"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", want, rows, err)
		}
	}
	for want, head := range map[string]string{"custom format": "PGDMP\x01", "gunzip": "\x1f\x8b\x08", "tar format": "toc.dat\x00\x00", "UTF-16": "\xff\xfe-\x00"} {
		file := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(file, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewDump(file, DumpFiles{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := NewDump(t.TempDir(), DumpFiles{}); err == nil || !strings.Contains(err.Error(), "pg_restore") {
		t.Error(err)
	}
}

func TestAccountsOfOlderDumpsAndWithBadTimes(t *testing.T) {
	d := dumpOf(t, `INSERT INTO auth.identities (id, user_id, identity_data, provider) VALUES ('google-7', 'u1', '{"a":1}', 'google');
		INSERT INTO auth.users (id, email, banned_until, created_at, deleted_at) VALUES ('u1', 'a@example.com', 'infinity', '2024-01-02 03:04:05.678+05:30', NULL), ('u2', NULL, 'soon', NULL, NULL), ('u3', '', NULL, NULL, '2024-01-02 03:04:05+00');`)
	var got []string
	if err := d.Accounts(t.Context(), func(a imported.Account) error {
		text := a.ID + " " + a.RefusalReason
		if a.CreatedAt != nil {
			text += a.CreatedAt.String() + a.BannedUntil.String()
		}
		for _, i := range a.Identities {
			text += " " + i.Provider + "/" + i.ProviderID + "/" + i.ID
		}
		got = append(got, text)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"u1 2024-01-01 21:34:05.678 +0000 UTC9999-12-31 00:00:00 +0000 UTC google/google-7/", "u2 banned_until cannot be read", "u3 it is deleted"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := dumpOf(t, "SELECT 1;").Accounts(t.Context(), func(imported.Account) error { return nil }); err == nil || !strings.Contains(err.Error(), "--schema=auth") {
		t.Error(err)
	}
}

func TestTruncatedDumpIsReported(t *testing.T) {
	for text, problems := range map[string]int{
		"SELECT 1;": 1, "SELECT 1;\n-- PostgreSQL database dump complete\n": 0, "SELECT 1;\nRESET ALL;\n": 0,
	} {
		n := 0
		if err := dumpOf(t, text).Others(t.Context(), func(string) error { n++; return nil }); err != nil || n != problems {
			t.Errorf("%q: %d %v", text, n, err)
		}
	}
}

func TestSymbolicLinksInTheFolderAreNotFollowed(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.png"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(inside, "product-images"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.png"), filepath.Join(inside, "product-images", "link.png")); err != nil {
		t.Fatal(err)
	}
	f, err := NewFolder(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	var names []string
	if err := f.List(t.Context(), "product-images", func(file File) error { names = append(names, file.Name); return nil }); err != nil || !slices.Equal(names, []string{"link.png"}) {
		t.Errorf("%v %v", names, err)
	}
	if body, _, err := f.Open(t.Context(), "product-images", File{Name: "link.png"}, false); err == nil {
		t.Errorf("%v", body)
	}
	if f.has("product-images", "link.png") || f.has("product-images", "../x") {
		t.Error("a file outside the folder")
	}
}

func FuzzDump(f *testing.F) {
	f.Add("COPY public.products (id, title) FROM stdin;\n1\ta\\x4\n\\.\nINSERT INTO public.products VALUES ('1', E'\\'');")
	f.Add("CREATE TABLE public.products (a int);INSERT INTO public.products VALUES (1), (DEFAULT);$x$;$x$ /* -- */;\\x\nU&'x';")
	f.Fuzz(func(t *testing.T, text string) {
		l := newLexer(strings.NewReader(text))
		for range len(text) + 2 { // every token has at least one byte
			if l.next(true).kind == tokenEnd {
				break
			}
		}
		s := &Dump{path: filepath.Join(t.TempDir(), "d.sql")}
		if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := rowsIn(s, "products"); err == nil && len(rows) > len(text) {
			t.Errorf("%d rows in %d bytes", len(rows), len(text))
		}
	})
}
