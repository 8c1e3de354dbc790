package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/imported"
)

// This file adds accounts of another site, for the command "atelie import supabase".

// Errors of ImportAccount. It also returns the errors of normalizeEmail and normalizePhone.
var (
	errImportID       = apperr.New(http.StatusBadRequest, "validation_failed", "The account has no usable id")
	errImportAddress  = apperr.New(http.StatusBadRequest, "validation_failed", "The account has neither an email address nor a phone number")
	errImportDiffers  = apperr.New(http.StatusConflict, "conflict", "The site already has an account with this id, with another email address or phone number: it stays unchanged")
	errImportEmail    = apperr.New(http.StatusConflict, "email_exists", "Another account of this site has this email address: it stays unchanged")
	errImportPhone    = apperr.New(http.StatusConflict, "phone_exists", "Another account of this site has this phone number: it stays unchanged")
	errImportMetadata = apperr.New(http.StatusBadRequest, "validation_failed", "The metadata of the account cannot be stored: it is too large or nested too deeply")
)

// ImportAccount adds an account of another site with its id, times, password hash, identities (ways to sign in) and second factors. It
// sends no mail. If write is false, ImportAccount only checks what it would do (a dry run).
//   - If this site already has an account with the id, ImportAccount changes nothing. If that account has another email address or phone
//     number, ImportAccount returns an error.
//   - added is true if this site had no account with the id.
//   - leftOut has a text about each part that cannot be imported, for the operator (who runs the import).
//   - The error is an *apperr.Error if the account itself cannot be imported.
func (s *Service) ImportAccount(ctx context.Context, a imported.Account, write bool) (added bool, leftOut []string, err error) {
	id, ok := canonicalUUID(a.ID)
	if !ok || id == uuid.Nil.String() {
		return false, nil, errImportID
	}
	a.ID = id
	if !isStorableText(a.Email) {
		return false, nil, errEmailInvalid
	}
	if err := normalizeAddresses(&a.Email, &a.Phone); err != nil {
		return false, nil, err
	}
	if a.Email == "" && a.Phone == "" {
		return false, nil, errImportAddress
	}
	if err := errors.Join(validateMetadata(a.AppMetadata), validateMetadata(a.UserMetadata)); err != nil {
		return false, nil, errImportMetadata.Because(err)
	}
	if !write {
		if found, err := s.isImported(ctx, s.db, a); err != nil || found {
			return false, nil, err
		}
		leftOut, err = s.prepareImport(ctx, s.db, &a)
		return err == nil, leftOut, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		account := a // a copy, because prepareImport changes it and WithTx may call this function again
		leftOut, added = nil, false
		found, err := s.isImported(ctx, tx, account)
		if err != nil || found {
			return err
		}
		if leftOut, err = s.prepareImport(ctx, tx, &account); err != nil {
			return err
		}
		added = true
		return s.insertImported(ctx, tx, account)
	})
	if err != nil {
		return false, nil, err
	}
	return added, leftOut, nil
}

// isImported reports whether this site has the account. It returns an error if a different account has its id, its e-mail address
// or its phone number.
func (s *Service) isImported(ctx context.Context, q db.Querier, a imported.Account) (bool, error) {
	existing, err := anyUserByID(ctx, q, a.ID)
	switch {
	case err == nil && existing.Email == a.Email && existing.Phone == a.Phone:
		return true, nil
	case err == nil:
		return false, errImportDiffers
	case !errors.Is(err, db.ErrNoRows):
		return false, err
	}
	err = checkAddressesFree(ctx, q, a.Email, a.Phone)
	switch {
	case errors.Is(err, errEmailExists):
		return false, errImportEmail
	case errors.Is(err, errPhoneExists):
		return false, errImportPhone
	}
	return false, err
}

// prepareImport removes the parts of an account that cannot be imported, and returns a text for each removed part.
func (s *Service) prepareImport(ctx context.Context, q db.Querier, a *imported.Account) (leftOut []string, err error) {
	if a.PasswordHash != "" && validateImportedHash(a.PasswordHash) != nil {
		a.PasswordHash = ""
		leftOut = append(leftOut, "the password (neither a bcrypt nor an argon2id hash of usual cost): the account needs a recovery mail")
	}
	var identities []imported.Identity
	for _, i := range a.Identities {
		reason, err := s.identityRefusal(ctx, q, a, i)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			leftOut = append(leftOut, fmt.Sprintf("the identity of %q: %s", shortenForMessage(i.Provider), reason))
			continue
		}
		identities = append(identities, i)
	}
	a.Identities = identities
	var factors []imported.Factor
	for _, f := range a.Factors {
		if reason := s.factorRefusal(f); reason != "" {
			leftOut = append(leftOut, fmt.Sprintf("a second factor (%s): %s", shortenForMessage(f.Type), reason))
			continue
		}
		if len(factors) == maxFactors {
			leftOut = append(leftOut, fmt.Sprintf("second factors beyond %d", maxFactors))
			break
		}
		factors = append(factors, f)
	}
	a.Factors = factors
	return leftOut, nil
}

// identityRefusal returns the reason why an identity cannot be imported, or "".
func (s *Service) identityRefusal(ctx context.Context, q db.Querier, a *imported.Account, i imported.Identity) (string, error) {
	storableData := validateMetadata(i.Data) == nil
	switch {
	case i.Provider == "" || i.ProviderID == "" || len(i.Provider)+len(i.ProviderID) > maxEmailBytes || !isStorableText(i.Provider+i.ProviderID):
		return "it has no usable name", nil
	case strings.HasPrefix(i.Provider, "sso:"):
		return "single sign-on must be set up again (atelie sso)", nil
	case !storableData:
		return "its data cannot be stored", nil
	case (i.Provider == "email" || i.Provider == "phone") && i.ProviderID != a.ID:
		return "it belongs to another account", nil
	}
	_, err := identityOwner(ctx, q, i.Provider, i.ProviderID)
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	return "another account here has it", err
}

// maxImportedSecret is the length of the longest TOTP secret that is imported.
const maxImportedSecret = 512

// factorRefusal returns the reason why a second factor cannot be imported, or "".
func (s *Service) factorRefusal(f imported.Factor) string {
	if _, ok := canonicalUUID(f.ID); !ok {
		return "it has no usable id"
	}
	switch f.Type {
	case factorTOTP:
		if f.Secret == "" {
			return "its secret is not given: it must be enrolled again"
		}
		if _, _, err := totpStep(f.Secret, "", s.now()); err != nil || len(f.Secret) > maxImportedSecret {
			return "its secret cannot be read: it must be enrolled again"
		}
		return ""
	case factorPhone:
		if _, err := normalizePhone(f.Phone); err != nil {
			return "its phone number cannot be read"
		}
		return ""
	}
	return "only totp and phone are supported"
}

// insertImported inserts an account that prepareImport has checked, with its identities and factors.
func (s *Service) insertImported(ctx context.Context, tx *db.Tx, a imported.Account) error {
	now := s.now()
	if a.CreatedAt == nil {
		a.CreatedAt = &now
	}
	if a.UpdatedAt == nil {
		a.UpdatedAt = a.CreatedAt
	}
	if err := insertImportedUser(ctx, tx, a); err != nil {
		return err
	}
	has := map[string]bool{}
	for _, i := range a.Identities {
		has[i.Provider] = true
		if err := insertImportedIdentity(ctx, tx, a, i); err != nil {
			return err
		}
	}
	for kind, address := range map[string]string{"email": a.Email, "phone": a.Phone} {
		verified := kind == "email" && a.EmailConfirmedAt != nil || kind == "phone" && a.PhoneConfirmedAt != nil
		if address == "" || has[kind] || (kind == "email" && len(a.Identities) > 0 && a.PasswordHash == "") {
			continue // an account that only signs in at providers has no identity for its e-mail address
		}
		if err := saveAddressIdentity(ctx, tx, a.ID, kind, address, verified, now); err != nil {
			return err
		}
	}
	for _, f := range a.Factors {
		stored := storedFactor{Factor: Factor{
			FriendlyName: cleanFactorName(f.Name), FactorType: f.Type, Status: statusVerified, CreatedAt: *a.CreatedAt, userID: a.ID,
		}}
		stored.ID, _ = canonicalUUID(f.ID)
		if f.CreatedAt != nil {
			stored.CreatedAt = *f.CreatedAt
		}
		if f.Type == factorPhone {
			var err error
			if stored.Phone, err = normalizePhone(f.Phone); err != nil {
				return err
			}
		} else {
			stored.secret = s.sealer.seal(purposeTOTP+stored.ID, []byte(f.Secret))
		}
		if err := insertFactor(ctx, tx, stored); err != nil {
			return addressConflict(err)
		}
	}
	return s.audit(ctx, tx, clientInfo{}, auditSignedUp, a.ID, map[string]any{"imported": true})
}

// cleanFactorName returns the name of a factor without control characters, cut after maxFactorText characters.
func cleanFactorName(name string) string { return cleanText(name, unicode.IsControl, maxFactorText) }

// shortenForMessage returns a text of another site in the form in which messages for people quote it.
func shortenForMessage(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return cmp.Or(cleanFactorName(s), "unknown")
}
