package app

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// Proves A-keys-9.
//
// With a new secret and the old one as the previous secret, waiting jobs and tokens of the old secret still work. A server reseals the
// jobs when it starts, and logs when the old secret can be removed.
func TestServerResealsValuesOfThePreviousSecret(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := configuration(t)
			cfg.Database.URL = dbtest.URL(t, dialect)
			var log bytes.Buffer
			open := func(secret, previous string) *App {
				t.Helper()
				cfg.Auth.JWTSecret, cfg.Auth.JWTSecretPrevious = secret, previous
				a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			old, next := strings.Repeat("o", 32), strings.Repeat("n", 32)
			before := open(old, "")
			oldKey := key(t, before, identity.Service)
			if err := before.DB.WithTx(t.Context(), func(tx *db.Tx) error { return before.Jobs.Enqueue(t.Context(), tx, "test", "kept") }); err != nil {
				t.Fatal(err)
			}
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}

			during := open(next, old)
			if rec := sendRequest(during, "GET", "/rest/v1/user_roles", oldKey); rec.Code != http.StatusOK {
				t.Errorf("the old key beside the new secret: %d", rec.Code)
			}
			if found, err := during.Reseal(t.Context(), false); err != nil || found != 1 {
				t.Errorf("values to reseal: %d, %v", found, err)
			}
			during.resealOnce(t.Context())
			if !strings.Contains(log.String(), "nothing is sealed with the previous secret any more") {
				t.Errorf("log: %s", log.String())
			}
			if err := during.Close(); err != nil {
				t.Fatal(err)
			}

			cfg.Auth.JWTSecret, cfg.Auth.JWTSecretPrevious = old, ""
			if _, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now); err == nil {
				t.Error("the old secret alone is still accepted")
			}
			after := open(next, "")
			t.Cleanup(func() { _ = after.Close() })
			if rec := sendRequest(after, "GET", "/rest/v1/user_roles", oldKey); rec.Code != http.StatusUnauthorized {
				t.Errorf("the old key without the old secret: %d", rec.Code)
			}
			seen := make(chan string, 1)
			after.Jobs.Handle("test", func(_ context.Context, payload []byte) error { seen <- string(payload); return nil })
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- after.Serve(ctx, l, nil) }()
			if got := <-seen; got != `"kept"` {
				t.Errorf("the job: %s", got)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// Proves A-keys-10.
//
// Two nodes serve together if one has the new secret as its current one and the other one the old secret, and each has the other's as its
// previous secret.
func TestNodesAgreeWhileTheSecretChanges(t *testing.T) {
	first, second, single := claimKeys("old", "new"), claimKeys("new", "old"), claimKeys("new", "")
	if first.Current != second.Previous || first.Previous != second.Current || first.Pair != second.Pair || !first.HasPrevious || !second.HasPrevious {
		t.Errorf("%+v beside %+v", first, second)
	}
	if single.HasPrevious || single.Current != second.Current {
		t.Errorf("%+v beside %+v", single, second)
	}
}
