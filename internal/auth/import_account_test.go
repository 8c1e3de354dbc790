package auth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/imported"
)

const importID = "00000000-0000-4000-8000-0000000000a1"

func TestImportedAccountsKeepWhatCanBeKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := newFixture(t, d)
		then := time.Date(2024, 1, 2, 3, 4, 5, 678901000, time.UTC)
		withoutID := imported.Factor{ID: "", Type: factorTOTP, Secret: "JBSWY3DPEHPK3PXP"}
		a := imported.Account{
			ID: strings.ToUpper(importID), Email: "Ana@Example.com", PasswordHash: `{"key_id":"x","alg":"aes"}`, EmailConfirmedAt: &then, CreatedAt: &then, BannedUntil: &then,
			UserMetadata: map[string]any{"full_name": "Ana"},
			Identities: []imported.Identity{
				{Provider: "google", ProviderID: "1", Data: map[string]any{"email": "ana@example.com"}, CreatedAt: &then}, {Provider: "sso:abc", ProviderID: "1"},
				{Provider: "email", ProviderID: "00000000-0000-4000-8000-0000000000a9"}, {Provider: "", ProviderID: "1"},
			},
			Factors: []imported.Factor{
				{ID: "00000000-0000-4000-8000-0000000000f1", Type: factorTOTP, Name: "a\nb" + strings.Repeat("c", 100), Secret: "JBSWY3DPEHPK3PXP", CreatedAt: &then},
				{ID: "00000000-0000-4000-8000-0000000000f2", Type: factorTOTP, Secret: `{"key_id":"x"}`}, {ID: "00000000-0000-4000-8000-0000000000f3", Type: "webauthn"},
				{ID: "00000000-0000-4000-8000-0000000000f4", Type: factorPhone, Phone: "+351 910000000"}, {ID: "00000000-0000-4000-8000-0000000000f5", Type: factorTOTP}, withoutID,
			},
		}
		for _, write := range []bool{false, true} {
			added, leftOut, err := f.ImportAccount(t.Context(), a, write)
			text := strings.Join(leftOut, "\n")
			if !added || err != nil || len(leftOut) != 8 {
				t.Errorf("%v %v\n%s", added, err, text)
			}
			for _, want := range []string{"the password", `"sso:abc"`, "belongs to another account", "no usable name", "cannot be read", "only totp and phone", "not given", "no usable id"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		}
		u, err := userByID(t.Context(), d, importID)
		if err != nil || u.Email != "ana@example.com" || u.passwordHash != "" || !u.CreatedAt.Equal(then) || !u.BannedUntil.Equal(then) || !u.EmailConfirmedAt.Equal(then) ||
			len(u.Identities) != 1 || u.Identities[0].Provider != "google" || len(u.Factors) != 2 || len([]rune(u.Factors[0].FriendlyName)) != maxFactorText || strings.Contains(u.Factors[0].FriendlyName, "\n") {
			t.Errorf("%v %+v", err, u)
		}
		if added, _, err := f.ImportAccount(t.Context(), a, true); added || err != nil {
			t.Errorf("again: %v %v", added, err)
		}
		for name, c := range map[string]struct {
			account imported.Account
			want    *apperr.Error
		}{
			"no id":       {imported.Account{Email: "b@example.com"}, errImportID},
			"no address":  {imported.Account{ID: "00000000-0000-4000-8000-0000000000a2"}, errImportAddress},
			"bad address": {imported.Account{ID: "00000000-0000-4000-8000-0000000000a2", Email: "b\xff@example.com"}, errEmailInvalid},
			"bad number":  {imported.Account{ID: "00000000-0000-4000-8000-0000000000a2", Phone: "x"}, errPhoneInvalid},
			"other id":    {imported.Account{ID: "00000000-0000-4000-8000-0000000000a2", Email: "ana@example.com"}, errImportEmail},
			"other":       {imported.Account{ID: importID, Email: "c@example.com"}, errImportDiffers},
			"metadata":    {imported.Account{ID: "00000000-0000-4000-8000-0000000000a2", Email: "b@example.com", UserMetadata: map[string]any{"a": strings.Repeat("x", maxMetadataBytes)}}, errImportMetadata},
		} {
			for _, write := range []bool{false, true} {
				var refusal *apperr.Error
				if added, _, err := f.ImportAccount(t.Context(), c.account, write); added || !errors.As(err, &refusal) || refusal.Message != c.want.Message {
					t.Errorf("%s: %v %v", name, added, err)
				}
			}
		}
	})
}
