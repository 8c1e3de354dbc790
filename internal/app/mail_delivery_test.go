package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/auth"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/jobs"
)

// lockedBuffer is a log that a test reads while the program writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// enqueue adds a job.
func enqueue(t *testing.T, a *App, kind string, payload any) {
	t.Helper()
	if err := a.DB.WithTx(t.Context(), func(tx *db.Tx) error { return a.Jobs.Enqueue(t.Context(), tx, kind, payload) }); err != nil {
		t.Fatal(err)
	}
}

// serve runs the program until the test ends.
func serve(t *testing.T, a *App) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, listener, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// waitForState waits until the jobs of a kind, or of all kinds if it is "", have the given state.
func waitForState(t *testing.T, a *App, kind string, want jobs.State) {
	t.Helper()
	var got jobs.State
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		var err error
		if got, err = a.Jobs.State(t.Context(), kind); err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
	}
	t.Errorf("%s: %+v, want %+v", kind, got, want)
}

// Proves A-mail-5, A-mail-14, A-safe-17.
func TestServeDeliversQueuedMailsAndTexts(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			var (
				mu       sync.Mutex
				received []map[string]any
			)
			hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var body map[string]any
				data, err := io.ReadAll(r.Body)
				if err == nil {
					err = json.Unmarshal(data, &body)
				}
				if err != nil || r.Header.Get("webhook-signature") == "" {
					t.Errorf("%s %v", data, err)
				}
				mu.Lock()
				defer mu.Unlock()
				received = append(received, body)
			}))
			t.Cleanup(hook.Close)

			var log lockedBuffer
			cfg := configuration(t)
			cfg.SMS.HookURL, cfg.SMS.HookSecret = hook.URL, "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
			cfg.Database.URL = dbtest.URL(t, dialect)
			a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			})
			enqueue(t, a, auth.JobMail, auth.Mail{Kind: auth.MailRecovery, To: "ines@exemplo.example", Language: "pt", Link: "https://site.example/auth/v1/verify?token=s3cr3t", Code: "482913", At: time.Now()}) // before the start
			serve(t, a)
			enqueue(t, a, auth.JobSMS, auth.SMS{UserID: "u1", Phone: "351912345678", Code: "482913", Type: "sms", Language: "pt"})
			waitForState(t, a, auth.JobMail, jobs.State{})
			waitForState(t, a, auth.JobSMS, jobs.State{})

			files, err := filepath.Glob(filepath.Join(cfg.Server.DataDir, "mail", "*.eml"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v %v", files, err)
			}
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			m, err := netmail.ReadMessage(bytes.NewReader(data))
			if err != nil || m.Header.Get("To") != "<ines@exemplo.example>" || m.Header.Get("Content-Language") != "pt" || !bytes.Contains(data, []byte("482913")) {
				t.Errorf("%v\n%s", err, data)
			}
			mu.Lock()
			if len(received) != 1 || received[0]["sms"].(map[string]any)["otp"] != "482913" {
				t.Errorf("the hook received %v", received)
			}
			mu.Unlock()

			// A job that is too late or invalid fails, and the log says why.
			enqueue(t, a, auth.JobMail, auth.Mail{Kind: auth.MailRecovery, To: "ines@exemplo.example", Link: "https://site.example/?token=s3cr3t", At: time.Now().Add(-time.Hour)})
			waitForState(t, a, auth.JobMail, jobs.State{Failed: 1, LastError: errExpired.Error()})
			enqueue(t, a, auth.JobSMS, []string{"no message"})
			waitForState(t, a, auth.JobSMS, jobs.State{Failed: 1, LastError: "sms: json: cannot unmarshal array into Go value of type auth.SMS"})
			if text := log.String(); strings.Count(text, "failed permanently") != 2 || strings.Contains(text, "s3cr3t") || strings.Contains(text, "482913") || strings.Contains(text, "351912345678") {
				t.Errorf("log: %s", text)
			}
		})
	}
}

// Proves A-mail-1.
func TestEveryAuthMailHasATemplate(t *testing.T) {
	a := newApp(t, db.SQLite)
	for _, kind := range []auth.MailKind{
		auth.MailConfirmation, auth.MailInvite, auth.MailMagicLink, auth.MailRecovery, auth.MailEmailChange, auth.MailEmailChangeNew,
		auth.MailReauthentication, auth.MailPasswordChanged, auth.MailEmailChanged, auth.MailFactorAdded, auth.MailNewDevice,
	} {
		payload, err := json.Marshal(auth.Mail{Kind: kind, To: "ines@exemplo.example", Language: "en", Code: "482913", At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.deliverMail(t.Context(), payload); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
