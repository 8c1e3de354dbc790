package db_test

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves W-auth-8.
//
// TestMigrationRenamesAuditActions runs the migration that renames the actions again, on entries of older versions.
func TestMigrationRenamesAuditActions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		cases := []struct{ before, detail, after string }{ // before and after are names of actions
			{"signed_in", "{}", "login"}, {"signed_out", "{}", "logout"}, {"refresh_token_reused", "{}", "token_revoked"}, {"password_changed", "{}", "user_updated_password"},
			{"user_created", "{}", "user_signedup"}, {"email_confirmed", "{}", "user_signedup"}, {"phone_changed", "{}", "user_modified"}, {"sign_up_repeated", "{}", "user_repeated_signup"},
			{"factor_verified", "{}", "verification_attempted"}, {"mail_requested", `{"kind":"confirmation"}`, "user_confirmation_requested"},
			{"mail_requested", `{"kind":"magic_link"}`, "user_recovery_requested"}, {"mail_requested", `{"kind":"reauthentication"}`, "user_reauthenticate_requested"},
			{"mail_requested", `{"kind":"email_change"}`, "mail_requested"}, {"sms_requested", `{"kind":"sms"}`, "user_recovery_requested"}, {"sms_requested", `{"kind":"phone_change"}`, "sms_requested"},
			{"sign_in_refused", "{}", "sign_in_refused"}, {"user_deleted", "{}", "user_deleted"}, {"link_generated", "{}", "link_generated"},
		}
		id := func(i int) string {
			return "00000000-0000-4000-8000-0000000000" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		}
		for i, c := range cases {
			if _, err := d.Exec(t.Context(), "insert into auth_audit_log (id, action, detail, created_at) values ($1, $2, $3, '2026-11-21 10:00:00+00')", id(i), c.before, c.detail); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.RunFirstStatement(t.Context(), d, 26); err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			var got string
			if err := d.QueryRow(t.Context(), "select action from auth_audit_log where id = $1", id(i)).Scan(&got); err != nil || got != c.after {
				t.Errorf("%s %s became %s, want %s (%v)", c.before, c.detail, got, c.after, err)
			}
		}
	})
}
