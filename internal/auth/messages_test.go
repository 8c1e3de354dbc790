package auth

import (
	"testing"
	"time"
)

// Proves A-mail-14.
func TestOutdatedMessages(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for kind, life := range map[MailKind]time.Duration{
		MailMagicLink: time.Hour, MailRecovery: time.Hour, MailReauthentication: time.Hour,
		MailConfirmation: 24 * time.Hour, MailInvite: 24 * time.Hour, MailEmailChange: 24 * time.Hour, MailEmailChangeNew: 24 * time.Hour,
	} {
		m := Mail{Kind: kind, Code: "123456", At: at}
		if m.Outdated(at.Add(life-time.Second)) || !m.Outdated(at.Add(life)) {
			t.Errorf("%s is not outdated after exactly %s", kind, life)
		}
	}
	for _, kind := range []MailKind{MailPasswordChanged, MailFactorAdded, MailNewDevice} {
		if (Mail{Kind: kind, At: at}).Outdated(at.Add(1000 * time.Hour)) {
			t.Errorf("%s: a notice is never too late", kind)
		}
	}
	if (SMS{}).Outdated(at, at.Add(time.Hour-time.Second)) || !(SMS{}).Outdated(at, at.Add(time.Hour)) {
		t.Error("codes live for an hour")
	}
}
