package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestEveryTableIsKnownToTheCopy(t *testing.T) {
	columns, err := db.Columns()
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		found, err := d.Tables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(name string) bool { return slices.Contains(db.OwnTables, name) })
		known := db.TableOrder()
		slices.Sort(known)
		if !slices.Equal(found, known) || len(known) != len(columns) || len(known) < 25 {
			t.Errorf("the database has %v,\nthe copy knows %v", found, known)
		}
		if err := d.MatchesCatalogue(t.Context()); err != nil {
			t.Error(err)
		}
		for _, name := range known { // only the seeded tables may have rows after the migrations
			var hasRows bool
			if err := d.QueryRow(t.Context(), "select exists (select 1 from "+name+")").Scan(&hasRows); err != nil || hasRows != slices.Contains(db.Seeded(), name) {
				t.Errorf("%s has rows: %v, %v", name, hasRows, err)
			}
		}
		if _, err := d.Exec(t.Context(), "create table forgotten (id integer primary key)"); err != nil {
			t.Fatal(err)
		}
		if err := d.MatchesCatalogue(t.Context()); err == nil || !strings.Contains(err.Error(), "forgotten.id is not known") {
			t.Errorf("a table beside the migrations: %v", err)
		}
	})
}

// TestEveryFileIsKnownToTheCopy fails if a table gets a column with blob ids that storage.Transfer does not copy.
func TestEveryFileIsKnownToTheCopy(t *testing.T) {
	columns, err := db.Columns()
	if err != nil {
		t.Fatal(err)
	}
	known := []string{
		"storage_objects", "media", "media_renditions", // copied
		"storage_uploads", "storage_trash", // unfinished uploads and pending blobs: not copied
		"backup_blobs", // the blobs in the backup: rows of the other tables refer or referred to all of them
	}
	for table, of := range columns {
		for _, c := range of {
			if strings.HasSuffix(c[0], "blob_id") && !slices.Contains(known, table) {
				t.Errorf("%s.%s names files: list them in StoredFiles of internal/files/store.go, then add it here", table, c[0])
			}
		}
	}
}

// sample returns the value of a column in row i. Values fit the kinds of the columns, and ids fit each other.
func sample(table, column, kind string, i int) any {
	switch table + "." + column {
	case "products.artwork_type":
		return []string{"oil", "mural", "watercolour"}[i%3]
	case "products.price", "storage_uploads.finished":
		return map[string]any{"products.price": 0, "storage_uploads.finished": i != 1}[table+"."+column]
	case "cover_images.has_begun", "cover_images.has_ended": // without the time, a cover has begun and has not ended
		return column == "has_begun"
	case "cover_images.visible_until": // later than visible_from
		return time.Date(2027, 3, i%28+1, 23, 59, i%60, i*1000, time.UTC)
	case "contact_quarantine.cause":
		return "flood"
	case "contact_submissions.reason":
		return "purchase"
	case "contact_submissions.status":
		return "replied"
	case "contact_submissions.language", "contact_quarantine.language":
		return []string{"en", "pt"}[i%2]
	case "contact_submissions.state":
		return "done"
	case "contact_replies.author":
		return "owner"
	case "contact_replies.delivery":
		return "sent"
	case "contact_replies.kind":
		return "progress"
	case "commissions.stage":
		return []string{"accepted", "declined"}[i%2]
	case "commission_terms.language", "calendar_feeds.language":
		return []string{"en", "pt"}[i%2]
	case "commission_offers.terms_hash":
		return sample("commission_terms", "hash", kind, i)
	case "commission_offers.answer":
		return "declined"
	case "commission_reviews.state":
		return []string{"waiting", "approved"}[i%2]
	case "auth_factors.factor_type":
		return "totp"
	case "access_keys.role":
		return "anon"
	case "auth_factors.status":
		return "verified"
	case "activity.kind":
		return "change"
	case "row_history.action":
		return "update"
	case "media.kind":
		return "video"
	case "media.state":
		return "ready"
	case "storage_objects.bucket_id", "storage_uploads.bucket_id":
		return fmt.Sprintf("id %d ã\n'\"", i)
	}
	switch kind {
	case "uuid":
		return uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)).String()
	case "text":
		return fmt.Sprintf("%s %d ã\n'\"", column, i)
	case "timestamp":
		return time.Date(2026, 3, i%28+1, 23, 59, i%60, i*1000, time.UTC)
	case "date":
		return fmt.Sprintf("1999-12-%02d", i%28+1)
	case "bool":
		return i%2 == 0
	case "int", "bigint", "serial":
		return i + 1
	case "json":
		return []string{`{"b": 1.50, "a": [1e2, -0.0, 12345678901234567890.1], "ã": "<&>\n", "b": 2}`, `"text"`, `[]`, `null`}[i%4]
	case "list":
		return []string{`["a","b, \"c\"","","null","{}"]`, `[]`}[i%2]
	case "real":
		return 0.1 + float64(i)/3
	case "bytes":
		return []byte{0, 255, byte(i)}
	}
	panic(kind)
}

// fill inserts n rows into every table of an SQLite database, or one row if a table can have only one.
func fill(t *testing.T, d *db.DB, n int) {
	t.Helper()
	columns, err := db.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		for _, table := range db.TableOrder() {
			if _, err := tx.Exec(t.Context(), "delete from "+table); err != nil {
				return err
			}
			required := map[string]bool{}
			for _, c := range columns[table] {
				var must bool
				if err := tx.QueryRow(t.Context(), `select "notnull" or pk > 0 from pragma_table_info($1) where name = $2`, table, c[0]).Scan(&must); err != nil {
					return err
				}
				required[c[0]] = must
			}
			for i := range n {
				if i > 0 && (table == "storage_quota_lock" || table == "auth_sso_keys" || table == "response_time") {
					break
				}
				var names, marks []string
				var args []any
				for _, c := range columns[table] {
					if !required[c[0]] && i%3 == 2 {
						continue
					}
					names, args = append(names, c[0]), append(args, sample(table, c[0], c[1], i))
					marks = append(marks, fmt.Sprintf("$%d", len(args)))
				}
				if _, err := tx.Exec(t.Context(), "insert into "+table+" ("+strings.Join(names, ", ")+") values ("+strings.Join(marks, ", ")+")", args...); err != nil {
					return fmt.Errorf("%s: %w", table, err)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// filled creates an SQLite database with rows in every table and closes it.
func filled(t *testing.T, n int) string {
	t.Helper()
	address := "sqlite:" + filepath.Join(t.TempDir(), "atelie.db")
	within(t, address, func(d *db.DB) {
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, d, n)
	})
	return address
}

// within opens a database as a server does, runs a function and closes it, because copies need exclusive use.
func within(t *testing.T, address string, fn func(d *db.DB)) {
	t.Helper()
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	fn(d)
}

type run struct {
	tell  func(table string, rows int64)
	fresh func(context.Context) error
}

// copyRows copies all rows, as the command does.
func copyRows(ctx context.Context, from, to string, r run) (sums []db.TableChecksum, resumed bool, err error) {
	if r.tell == nil {
		r.tell = func(string, int64) {}
	}
	if r.fresh == nil {
		r.fresh = func(context.Context) error { return nil }
	}
	source, err := db.OpenExclusive(ctx, from, true)
	if err != nil {
		return nil, false, fmt.Errorf("source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := db.OpenExclusive(ctx, to, false)
	if err != nil {
		return nil, false, fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	err = source.Snapshot(ctx, func(q db.Querier) error {
		c, err := db.BeginCopy(ctx, q, source.Dialect, target, from, r.fresh, r.tell)
		if err != nil {
			return err
		}
		resumed = c.Resumed
		if err := c.CopyRows(ctx, q); err != nil {
			return err
		}
		if sums, err = c.Verify(ctx, q); err != nil {
			return err
		}
		return c.Finish(ctx)
	})
	return sums, resumed, err
}

func dump(t *testing.T, address string) (out map[string][]byte) {
	t.Helper()
	within(t, address, func(d *db.DB) {
		var err error
		if out, err = d.Dump(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return out
}

func same(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	if len(got) != len(want) || len(want) < 25 {
		t.Errorf("%d and %d tables", len(got), len(want))
	}
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s differs:\n%q\n%q", name, got[name], want[name])
		}
		if len(want[name]) == 0 {
			t.Errorf("%s has no rows", name)
		}
	}
}

func emptyAddress(t *testing.T, dialect db.Dialect) string {
	t.Helper()
	if dialect == db.SQLite {
		return "sqlite:" + filepath.Join(t.TempDir(), "atelie.db")
	}
	address := dbtest.URL(t, dialect)
	within(t, address, func(d *db.DB) { // without the schema that the template brings
		for _, statement := range []string{"drop schema public cascade", "create schema public"} {
			if _, err := d.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	})
	return address
}

func TestCopiesBetweenDatabasesChangeNothing(t *testing.T) {
	first := filled(t, 7)
	want := dump(t, first)
	at := first
	for i, dialect := range []db.Dialect{db.Postgres, db.Postgres, db.SQLite, db.SQLite} {
		to := emptyAddress(t, dialect)
		if i == 1 {
			to = dbtest.URL(t, dialect) // migrated already
		}
		sums, resumed, err := copyRows(t.Context(), at, to, run{})
		if err != nil || resumed {
			t.Fatalf("to %s: %v", dialect, err)
		}
		for _, s := range sums {
			leftOut := s.Table == "storage_uploads" && i == 0
			if (s.LeftOut == 1) != leftOut || len(s.SHA256) != 64 || s.Rows == 0 {
				t.Errorf("%+v", s)
			}
		}
		same(t, dump(t, to), want)
		within(t, to, func(d *db.DB) {
			if err := d.Migrate(t.Context()); err != nil { // it can be migrated like any other database
				t.Error(err)
			}
			var id int
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				if err := tx.QueryRow(t.Context(), "insert into realtime_outbox (kind, payload, created_at) values ('x', 'y', $1) returning id", time.Now()).Scan(&id); err != nil {
					return err
				}
				_, err := tx.Exec(t.Context(), "delete from realtime_outbox where id = $1", id)
				return err
			}); err != nil || id != 8+i { // serial numbers continue, also after deleted rows
				t.Errorf("next number %d, %v", id, err)
			}
			if dialect != db.SQLite { // on PostgreSQL a number of activity would be used up
				return
			}
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				const row = "33333333-3333-4333-8333-333333333333"
				err := db.Exec(t.Context(), tx, "insert into products (id, title, artwork_type, created_at) values ($1, 'Onda', 'oil', $2)", row, time.Now())
				entries, readErr := db.One[int](t.Context(), tx, "select count(*) from activity where row_id = $1", row)
				if entries != 1 {
					t.Errorf("%d entries of a new work", entries)
				}
				return errors.Join(err, readErr, errStop)
			}); err.Error() != errStop.Error() {
				t.Error(err)
			}
		})
		same(t, dump(t, first), want)
		at = to
	}
}

var errStop = errors.New("stopped here")

// TestInterruptedCopyIsResumed interrupts the copy at each of its steps.
func TestInterruptedCopyIsResumed(t *testing.T) {
	from := filled(t, 3)
	addRows(t, from, 2*db.CopyBatch+3)
	want := dump(t, from)
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			to := emptyAddress(t, dialect)
			// Before the schema exists.
			if _, _, err := copyRows(t.Context(), from, to, run{fresh: func(context.Context) error { return errStop }}); !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			runs, written := 0, map[string]int64{}
			for {
				if runs++; runs > 300 {
					t.Fatal("does not get on")
				}
				ctx, cancel := context.WithCancel(t.Context())
				steps := 0
				_, resumed, err := copyRows(ctx, from, to, run{tell: func(table string, rows int64) {
					if rows < written[table] {
						t.Errorf("%s went back from %d to %d", table, written[table], rows)
					}
					written[table] = rows
					if steps++; steps == 7 {
						cancel()
					}
				}})
				cancel()
				if resumed != (runs > 1) {
					t.Errorf("run %d: resumed %v", runs, resumed)
				}
				if err == nil {
					break
				}
				if steps < 7 {
					t.Fatal(err)
				}
				within(t, to, func(d *db.DB) {
					if err := d.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "unfinished copy") {
						t.Errorf("a server would start: %v", err)
					}
				})
			}
			if runs < 5 {
				t.Errorf("stopped only %d times", runs-1)
			}
			same(t, dump(t, to), want)
		})
	}
}

func TestCopyRefusals(t *testing.T) {
	from := filled(t, 3)
	exec := func(t *testing.T, address, statement string, args ...any) {
		t.Helper()
		within(t, address, func(d *db.DB) {
			if _, err := d.Exec(t.Context(), statement, args...); err != nil {
				t.Fatal(err)
			}
		})
	}
	refused := func(t *testing.T, from, to, want string) {
		t.Helper()
		if _, _, err := copyRows(t.Context(), from, to, run{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			migrated := func() string {
				to := dbtest.URL(t, dialect)
				within(t, to, func(d *db.DB) {
					if err := d.Migrate(t.Context()); err != nil {
						t.Fatal(err)
					}
				})
				return to
			}
			to := migrated()
			exec(t, to, "insert into rate_limits (name, subject, bucket_start, hits) values ('a', 'b', 1, 1)")
			refused(t, from, to, "target: the target is not empty")

			to = emptyAddress(t, dialect)
			exec(t, to, "create table somebody_elses (id integer)")
			refused(t, from, to, "target: the target is not empty")

			to = migrated()
			exec(t, to, "insert into goose_db_version (version_id, is_applied) values (9999, $1)", true)
			refused(t, from, to, "target: it has schema version 9999")
			refused(t, to, migrated(), "source: it has schema version 9999")

			to = migrated()
			exec(t, to, "delete from goose_db_version where version_id > 3")
			refused(t, from, to, "target: it has schema version 3")
			refused(t, to, migrated(), "source: it has schema version 3")

			refused(t, emptyAddress(t, dialect), migrated(), "source: ")

			to = migrated()
			within(t, to, func(*db.DB) {
				if _, _, err := copyRows(t.Context(), from, to, run{}); !errors.Is(err, db.ErrInUse) {
					t.Errorf("a target in use: %v", err)
				}
				if _, _, err := copyRows(t.Context(), to, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), run{}); !errors.Is(err, db.ErrInUse) {
					t.Errorf("a source in use: %v", err)
				}
			})
		})
	}
}

// TestCopyWaitsForSessionsThatEnd: PostgreSQL ends the sessions of a program shortly after the program. The copy must wait for that.
func TestCopyWaitsForSessionsThatEnd(t *testing.T) {
	address := dbtest.URL(t, db.Postgres)
	server, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		d, err := db.OpenExclusive(t.Context(), address, true)
		if err == nil {
			err = d.Close()
		}
		opened <- err
	}()
	waits := false
	for deadline := time.Now().Add(time.Minute); !waits && err == nil && time.Now().Before(deadline); {
		err = server.QueryRow(t.Context(), "select exists (select from pg_stat_activity where datname = current_database() and application_name = 'atelie copy')").Scan(&waits)
	}
	if err := errors.Join(err, server.Close(), <-opened); err != nil || !waits {
		t.Errorf("the copy has come: %v, %v", waits, err)
	}
}

// stopped begins a copy and interrupts it when everything is written and nothing is verified.
func stopped(t *testing.T, from, to string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	order := db.TableOrder()
	_, _, err := copyRows(ctx, from, to, run{tell: func(table string, _ int64) {
		if table == order[len(order)-1] {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("not stopped")
	}
}

func TestVerifyFindsDifferences(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for name, c := range map[string]struct {
			change   string
			atSource bool
			want     string
		}{
			"one letter":       {"update products set title = title || '.' where id = (select min(id) from products)", false, "table products (3 rows, 3 copied)"},
			"one row less":     {"delete from auth_recovery_codes where code_hash = (select max(code_hash) from auth_recovery_codes)", false, "table auth_recovery_codes (3 rows, 2 copied)"},
			"one row more":     {"update storage_uploads set finished = not finished", false, "table storage_uploads"},
			"a changed source": {"update jobs set tries = 99", true, "table jobs"},
		} {
			if dialect == db.Postgres {
				c.change = strings.ReplaceAll(c.change, "min(id)", "min(id::text)::uuid")
			}
			t.Run(string(dialect)+" "+name, func(t *testing.T) {
				from, to := filled(t, 3), emptyAddress(t, dialect)
				stopped(t, from, to)
				within(t, map[bool]string{true: from, false: to}[c.atSource], func(d *db.DB) {
					if _, err := d.Exec(t.Context(), c.change); err != nil {
						t.Fatal(err)
					}
				})
				if _, resumed, err := copyRows(t.Context(), from, to, run{}); !resumed || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "differs from the source") {
					t.Errorf("resumed %v, %v", resumed, err)
				}
			})
		}
	}
}

func TestUnfinishedCopyIsResumedFromItsSourceOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		to := emptyAddress(t, d.Dialect)
		stopped(t, filled(t, 3), to)
		if _, _, err := copyRows(t.Context(), filled(t, 3), to, run{}); err == nil || !strings.Contains(err.Error(), "unfinished copy of something else") {
			t.Errorf("got %v", err)
		}
		if _, _, err := copyRows(t.Context(), to, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), run{}); err == nil || !strings.Contains(err.Error(), "itself an unfinished copy") {
			t.Errorf("as a source: %v", err)
		}
	})
}

// addRows puts n rows of about 300 bytes into a table of an SQLite database.
func addRows(t *testing.T, address string, n int) {
	t.Helper()
	within(t, address, func(d *db.DB) {
		if _, err := d.Exec(t.Context(), `insert into rate_limits (name, subject, bucket_start, hits)
			with recursive n (i) as (select 1 union all select i + 1 from n where i < $1) select 'large', hex(zeroblob(100)) || i, i, i from n`, n); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLabelsAreDistinctAndHaveNoSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ana:hunter2@db.example/atelie?sslmode=disable": "postgres://db.example:5432/atelie",
		"postgres:///x?host=/run/pg&user=u":                        "postgres:///run/pg:5432/x",
		"sqlite:/no/such/folder/../atelie.db":                      "sqlite:/no/such/atelie.db",
	} {
		if got, err := db.Label(address); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := db.Label("postgres://ana:hunter2@db.example:x/%zz"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

func TestCanonicalFormOfEqualValues(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "1.0": "1", "10e-1": "1", "100": "1e2", "1E+2": "1e2", "0.00": "0", "-0": "0", "-1.50": "-15e-1", "0.0015": "15e-4", "1e400000": "1e400000",
	} {
		if got := db.PlainNumber(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got, err := db.CanonicalJSON(` { "b" : 1.0, "a" : [ ] , "b": 2 } `); err != nil || got != `{"a":[],"b":2}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := db.CanonicalJSON("{"); err == nil {
		t.Error("broken JSON passed")
	}
}
