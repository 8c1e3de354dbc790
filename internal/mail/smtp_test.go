package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Proves A-mail-6.
func TestDelivery(t *testing.T) {
	cert, pool := certificate(t, "127.0.0.1")
	secure := &tls.Config{Certificates: []tls.Certificate{cert}}
	for _, c := range []struct {
		name      string
		options   mailtest.Options
		mode      string
		login     bool // the mailer has a user name and a password
		encrypted bool // expected
	}{
		{"STARTTLS required, with a login", mailtest.Options{TLS: secure}, TLSRequired, true, true},
		{"STARTTLS offered, with a login", mailtest.Options{TLS: secure}, TLSOffered, true, true},
		{"STARTTLS not offered, without a login", mailtest.Options{}, TLSOffered, false, false},
		{"smtps, with a login", mailtest.Options{TLS: secure, Implicit: true}, TLSImplicit, true, true},
		{"no encryption on this machine, with a login", mailtest.Options{TLS: secure, Insecure: true}, TLSNone, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := startMailServer(t, c.options)
			user, password := "", ""
			if c.login {
				user, password = mailtest.User, mailtest.Password
			}
			var log bytes.Buffer
			m := newMailer(t, Config{Server: serverOf(server, c.mode, user, password), From: "Ateliê Alvor <ola@alvor.example>", RootCAs: pool}, &log)
			msg := message(Recovery, i18n.PT)
			msg.ID = "0190-id"
			where, err := m.Send(t.Context(), msg)
			if err != nil || where != server.Address() {
				t.Fatalf("got %s, error %v", where, err)
			}
			mails := server.Mails()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			got := mails[0]
			if got.From != "ola@alvor.example" || got.To != "ines@example.org" || got.Login != user || got.Encrypted != c.encrypted || got.HELO != "alvor.example" {
				t.Errorf("got %+v", got)
			}
			o := open(t, got.Data)
			if !strings.Contains(o.Text, link) || !strings.Contains(o.Text, "482913") || o.Subject != "Alvor: escolha uma senha nova" {
				t.Errorf("%q\n%s", o.Subject, o.Text)
			}
			if id := o.Header.Get("Message-Id"); id != "<0190-id@alvor.example>" {
				t.Errorf("Message-ID %s", id)
			}
			if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "<0190-id@alvor.example>") || strings.Contains(text, "s3cr3t") || strings.Contains(text, "482913") || strings.Contains(text, "ines") {
				t.Errorf("log: %s", text)
			}
		})
	}
}

// Proves A-mail-6.
func TestEncryptionIsNotDowngraded(t *testing.T) {
	cert, pool := certificate(t, "127.0.0.1")
	_, otherRoots := certificate(t, "127.0.0.1")
	other, otherPool := certificate(t, "mail.elsewhere.example")
	secure, wrongName := &tls.Config{Certificates: []tls.Certificate{cert}}, &tls.Config{Certificates: []tls.Certificate{other}}
	for _, c := range []struct {
		name    string
		options mailtest.Options
		cfg     Config
		mode    string
		want    string
	}{
		{"required and not offered", mailtest.Options{}, Config{}, TLSRequired, "does not support STARTTLS"},
		{"an unknown authority's certificate", mailtest.Options{TLS: secure}, Config{RootCAs: otherRoots}, TLSRequired, "certificate"},
		{"an unknown authority's certificate where encryption is a choice", mailtest.Options{TLS: secure}, Config{RootCAs: otherRoots}, TLSOffered, "certificate"},
		{"an unknown authority's certificate, smtps", mailtest.Options{TLS: secure, Implicit: true}, Config{RootCAs: otherRoots}, TLSImplicit, "certificate"},
		{"another host's certificate", mailtest.Options{TLS: wrongName}, Config{RootCAs: otherPool}, TLSRequired, "certificate"},
		{"an unknown certificate for the system", mailtest.Options{TLS: secure}, Config{}, TLSRequired, "certificate"},
		// 127.0.0.2 is this machine too, but not one of its names to which a password may be sent unencrypted.
		{"a login without encryption", mailtest.Options{Host: "127.0.0.2", Insecure: true}, Config{RootCAs: pool}, TLSNone, "unencrypted"},
		{"a login where STARTTLS was taken away", mailtest.Options{Host: "127.0.0.2", Insecure: true}, Config{RootCAs: pool}, TLSOffered, "unencrypted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := startMailServer(t, c.options)
			c.cfg.Server = serverOf(server, c.mode, mailtest.User, mailtest.Password)
			_, err := newMailer(t, c.cfg, nil).Send(t.Context(), message(Recovery, i18n.EN))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if jobs.IsPermanent(err) {
				t.Error("the owner can put it right: the mail must wait")
			}
			if len(server.Mails()) != 0 || len(server.Logins()) != 0 {
				t.Errorf("left: %v, logins %v", server.Mails(), server.Logins())
			}
		})
	}
}

// Proves A-mail-7.
func TestSMTPStatusDecidesAboutRetry(t *testing.T) {
	for _, c := range []struct {
		code      int
		text      string
		permanent bool
	}{
		{451, "4.7.1 Greylisted, try again", false},
		{421, "Closing", false},
		{452, "4.2.2 Mailbox full", false},
		{550, "5.1.1 No such user", true},
		{553, "Not allowed", true},
		{530, "5.7.0 Authentication required", false},
	} {
		server := startMailServer(t, mailtest.Options{})
		server.Answer(mailtest.Refusal(c.code, c.text))
		_, err := newMailer(t, Config{Server: serverOf(server, TLSOffered, "", "")}, nil).Send(t.Context(), message(Recovery, i18n.EN))
		if err == nil || jobs.IsPermanent(err) != c.permanent || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%d: permanent %v, %v", c.code, jobs.IsPermanent(err), err)
			continue
		}
		if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "482913") {
			t.Errorf("a secret in %v", err)
		}
	}
}

func TestWrongPasswordAndDeadServerAreTemporary(t *testing.T) {
	cert, pool := certificate(t, "127.0.0.1")
	server := startMailServer(t, mailtest.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	_, err := newMailer(t, Config{Server: serverOf(server, TLSRequired, mailtest.User, "wrong"), RootCAs: pool}, nil).Send(t.Context(), message(Recovery, i18n.EN))
	if err == nil || jobs.IsPermanent(err) || strings.Contains(err.Error(), "wrong") || len(server.Logins()) != 1 {
		t.Errorf("%v after %v", err, server.Logins())
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	// It accepts the connection and sends nothing.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	mute := newMailer(t, Config{Server: &Server{Host: "127.0.0.1", Port: port, TLS: TLSOffered}}, nil)
	begin := time.Now()
	if _, err := mute.Send(ctx, message(Recovery, i18n.EN)); err == nil || jobs.IsPermanent(err) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("mute server: %v", err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it held on for %s", took)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// Nothing listens at this port. A closed port could be used by another server by now.
	gone := newMailer(t, Config{Server: &Server{Host: "127.0.0.1", Port: 1, TLS: TLSOffered}}, nil)
	if _, err := gone.Send(t.Context(), message(Recovery, i18n.EN)); err == nil || jobs.IsPermanent(err) {
		t.Errorf("no server: %v", err)
	}
}

// With the queue: a server that is busy once gets the mail at the next try, with the same Message-ID. After a permanent refusal there is
// no other try.
func TestRetriesThroughTheQueue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		server := startMailServer(t, mailtest.Options{})
		server.Answer(
			mailtest.Refusal(451, "Try again"), nil,
			mailtest.Refusal(550, "No such user"),
		)
		m := newMailer(t, Config{Server: serverOf(server, TLSOffered, "", "")}, nil)
		var log bytes.Buffer
		q := jobs.New(d, []byte("key"), nil, slogTo(&log), time.Now)
		ids := make(chan string, 8)
		q.Handle("mail", func(ctx context.Context, _ []byte) error {
			msg := message(Recovery, i18n.EN)
			msg.ID = jobs.InfoOf(ctx).ID
			ids <- msg.ID
			_, err := m.Send(ctx, msg)
			return err
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			q.Run(ctx)
		}()
		add := func() {
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return q.Enqueue(t.Context(), tx, "mail", 1) }); err != nil {
				t.Fatal(err)
			}
		}
		add()
		first, second := <-ids, <-ids
		if first != second || first == "" {
			t.Errorf("ids %q and %q", first, second)
		}
		waitFor(t, func() bool { return len(server.Mails()) == 1 })
		add()
		<-ids
		var s jobs.State
		waitFor(t, func() bool {
			var err error
			if s, err = q.State(t.Context(), "mail"); err != nil {
				t.Fatal(err)
			}
			return s.Waiting == 0
		})
		cancel()
		<-done
		if s.Failed != 1 || !strings.Contains(s.LastError, "No such user") || len(server.Mails()) != 1 || len(ids) != 0 {
			t.Errorf("%+v, %d mails", s, len(server.Mails()))
		}
		if got := open(t, server.Mails()[0].Data).Header.Get("Message-Id"); got != "<"+first+"@alvor.example>" {
			t.Errorf("Message-ID %s", got)
		}
		if !strings.Contains(log.String(), "failed permanently") || strings.Contains(log.String(), "s3cr3t") || strings.Contains(log.String(), "482913") {
			t.Errorf("log: %s", log.String())
		}
	})
}

// Proves A-safe-15.
func TestHostileAddressesNeverReachAServer(t *testing.T) {
	server := startMailServer(t, mailtest.Options{})
	m := newMailer(t, Config{Server: serverOf(server, TLSOffered, "", "")}, nil)
	for _, to := range []string{
		"", "nobody", "a@b.example, c@d.example", "Ana <a@b.example>", "<a@b.example>", "a@b.example\r\nBcc: c@d.example", "a@b.example\nX: y",
		"a@b.example\r", "\"a\r\nb\"@c.example", "a\x00@b.example", "a@b.example\u2028", "a@b.example (comment)", "group: a@b.example;",
		"a@b.example>\r\nDATA", "a b@c.example", strings.Repeat("a", 250) + "@b.example", "a@b.example\xff", "\ra@b.example",
	} {
		msg := message(Recovery, i18n.EN)
		msg.To = to
		if _, err := m.Send(t.Context(), msg); !jobs.IsPermanent(err) {
			t.Errorf("to %q: %v", to, err)
		}
	}
	for name, change := range map[string]func(*Message){
		"id":               func(m *Message) { m.ID = "x\r\nBcc: a@b.example" },
		"id with brackets": func(m *Message) { m.ID = "x> <y" },
		"link":             func(m *Message) { m.Link = "https://a.example/\r\nX: y" },
		"script":           func(m *Message) { m.Link = "javascript:alert(1)" },
		"no link":          func(m *Message) { m.Link = "/relative" },
		"nothing":          func(m *Message) { m.Link, m.Code = "", "" },
		"kind":             func(m *Message) { m.Kind = "newsletter" },
	} {
		msg := message(Recovery, i18n.EN)
		change(&msg)
		if _, err := m.Send(t.Context(), msg); !jobs.IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "javascript") || strings.Contains(err.Error(), "a.example/") {
			t.Errorf("%s: the error contains the link: %v", name, err)
		}
	}
	if len(server.Mails()) != 0 {
		t.Errorf("%d mails left", len(server.Mails()))
	}
	for _, to := range []string{"a@b.example", "o'neil+tag@b.example", "josé@exemplo.example"} {
		msg := message(Recovery, i18n.EN)
		msg.To = to
		if _, err := m.Send(t.Context(), msg); err != nil {
			t.Errorf("to %q: %v", to, err)
		}
	}
}
