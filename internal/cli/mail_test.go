package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelie/internal/mail/mailtest"
)

// Proves A-mail-10.
func TestMailTestThroughAServer(t *testing.T) {
	p, err := mailtest.Start(mailtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	address := p.Address()
	dir := t.TempDir()
	t.Setenv("ATELIE_SMTP_URL", "smtp://"+address)
	t.Setenv("ATELIE_MAIL_FROM", "Ateliê <ola@exemplo.example>")
	if r := atelie(t, dir, "", "mail", "test", "ines@exemplo.example", "--language=pt"); r.code != 0 || r.out != address+" has accepted the mail for ines@exemplo.example.\n" {
		t.Fatalf("got %+v", r)
	}
	if len(p.Mails()) != 1 {
		t.Fatalf("%d mails", len(p.Mails()))
	}
	m, err := mailtest.Open(p.Mails()[0].Data)
	if err != nil || m.Header.Get("Content-Language") != "pt" || !strings.Contains(m.Header.Get("From"), "ola@exemplo.example") {
		t.Errorf("got %v, error %v", m, err)
	}
	p.Answer(mailtest.Refusal(550, "No such user"))
	if r := atelie(t, dir, "", "mail", "test", "nobody@exemplo.example"); r.code != 1 || r.out != "" || !strings.Contains(r.err, "No such user") {
		t.Errorf("got %+v", r)
	}
	if r := atelie(t, dir, "", "mail", "test", "not an address"); r.code != 1 || !strings.Contains(r.err, "address") {
		t.Errorf("got %+v", r)
	}
	if r := atelie(t, dir, "", "mail", "test", "ines@exemplo.example", "--language=fr"); r.code != 2 {
		t.Errorf("got %+v", r)
	}
	t.Setenv("ATELIE_SMTP_URL", "smtp://127.0.0.1:1")
	if r := atelie(t, dir, "", "mail", "test", "ines@exemplo.example"); r.code != 1 || !strings.Contains(r.err, "127.0.0.1:1") {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "mail")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a mail was put into the folder although a server is set")
	}
}

// Proves A-mail-10.
func TestMailTestWithoutAServer(t *testing.T) {
	dir := t.TempDir()
	r := atelie(t, dir, "", "mail", "test", "ines@exemplo.example")
	file := regexp.MustCompile(`The mail is in (\S+\.eml)\n$`).FindStringSubmatch(r.out)
	if r.code != 0 || file == nil || filepath.Dir(file[1]) != filepath.Join(dir, "mail") {
		t.Fatalf("got %+v", r)
	}
	data, err := os.ReadFile(file[1])
	if err != nil || !strings.Contains(string(data), "Mail works") {
		t.Errorf("got %s, error %v", data, err)
	}
}

func TestSecretsOfMailAndMessagesAreMasked(t *testing.T) {
	t.Setenv("ATELIE_SMTP_URL", "smtp://ana:geheim1@mail.example")
	t.Setenv("ATELIE_MAIL_FROM", "Ateliê <ola@exemplo.example>")
	t.Setenv("ATELIE_SMS_HOOK_URL", "https://ana:geheim2@hook.example/x")
	t.Setenv("ATELIE_SMS_HOOK_SECRET", "v1,whsec_Z2VoZWltM2dlaGVpbTNnZWhlaW0z")
	r := atelie(t, t.TempDir(), "", "config")
	if r.code != 0 || strings.Contains(r.out, "geheim") || strings.Contains(r.out, "Z2Vo") || !strings.Contains(r.out, "smtp://ana:xxxxx@mail.example") || !strings.Contains(r.out, "Ateliê <ola@exemplo.example>") {
		t.Errorf("%+v", r)
	}
	t.Setenv("ATELIE_SMS_HOOK_URL", "")
	t.Setenv("ATELIE_SMS_HOOK_SECRET", "")
	t.Setenv("ATELIE_SMS_TWILIO_ACCOUNT", "AC1")
	t.Setenv("ATELIE_SMS_TWILIO_TOKEN", "geheim4")
	t.Setenv("ATELIE_SMS_TWILIO_FROM", "+15005550006")
	if r := atelie(t, t.TempDir(), "", "config"); r.code != 0 || strings.Contains(r.out, "geheim") {
		t.Errorf("%+v", r)
	}
}
