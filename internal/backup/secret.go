package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"filippo.io/age"
)

// This file stores the site's secrets in the backup destination, and reads them from there for a restore.

// Secrets are the site's current secret and the previous one. Previous is "" unless some values may still be encrypted with it.
type Secrets struct {
	Current  string `json:"jwt_secret"`
	Previous string `json:"jwt_secret_previous,omitempty"`
}

// Errors of ReadSecrets.
var (
	ErrNeedsPassphrase = errors.New("the secret in the backup is sealed: set ATELIE_BACKUP_PASSPHRASE to the passphrase of that time")
	ErrWrongPassphrase = errors.New("the passphrase does not open the secret in the backup: set ATELIE_BACKUP_PASSPHRASE to the one with which it was sealed")
)

// scryptWorkFactor is the cost of deriving the key from the passphrase (scrypt), as an exponent of 2. 15 costs 32 MB of memory and a tenth
// of a second. The default of package age (18) would cost 256 MB, too much for a small machine that runs a site.
const scryptWorkFactor = 15

// storedSecrets is the stored form of Secrets. The checksum detects a changed byte of an unencrypted secret. Without a checksum, such a
// change would be noticed only when a restored site rejects all sessions. Backups of earlier versions have no checksum.
type storedSecrets struct {
	Secrets
	SHA256 string `json:"sha256,omitempty"` // Secrets.checksum
}

// checksum returns the SHA-256 of the secrets in hexadecimal digits.
func (s Secrets) checksum() string {
	sum := sha256.Sum256([]byte(s.Current + "\n" + s.Previous))
	return hex.EncodeToString(sum[:])
}

// WriteSecrets stores the secrets in a destination. With a passphrase, it encrypts them and stores them as sealedSecretName. If the
// passphrase is "", it stores them as secretName, unencrypted. WriteSecrets deletes the object with the other name.
func WriteSecrets(ctx context.Context, dest Destination, s Secrets, passphrase string) error {
	text, err := json.Marshal(storedSecrets{s, s.checksum()})
	if err != nil {
		return err
	}
	name, otherName := secretName, sealedSecretName
	if passphrase != "" {
		name, otherName = otherName, name
		if text, err = sealText(text, passphrase); err != nil {
			return err
		}
	}
	if err := dest.Write(ctx, name, bytes.NewReader(text)); err != nil {
		return err
	}
	return dest.Delete(ctx, otherName)
}

func sealText(text []byte, passphrase string) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(scryptWorkFactor)
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, recipient)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close()) // Close writes the end
	return sealed.Bytes(), err
}

// ReadSecrets reads the secrets of a backup. The error is fs.ErrNotExist if the destination has none, ErrNeedsPassphrase,
// ErrWrongPassphrase or a *Damage.
func ReadSecrets(ctx context.Context, dest Destination, passphrase string) (s Secrets, err error) {
	name := sealedSecretName
	text, err := readAll(ctx, dest, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		name = secretName
		if text, err = readAll(ctx, dest, name); err != nil {
			return s, err
		}
	case err != nil:
		return s, err
	case passphrase == "":
		return s, ErrNeedsPassphrase
	default:
		if text, err = openText(text, passphrase); err != nil {
			return s, err
		}
	}
	var stored storedSecrets
	if err := json.Unmarshal(text, &stored); err != nil || stored.Current == "" || stored.SHA256 != "" && stored.SHA256 != stored.checksum() {
		return s, damage(name, err)
	}
	return stored.Secrets, nil
}

// hasSecrets reports whether a destination has secrets, encrypted or not.
func hasSecrets(ctx context.Context, dest Destination) (bool, error) {
	for _, name := range []string{sealedSecretName, secretName} {
		body, err := dest.Open(ctx, name)
		if err == nil {
			return true, body.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// checkSecrets returns an error unless the secrets in the destination are the site's. Missing or damaged secrets are stored again, but the
// restore test fails nevertheless, because something has changed the destination.
func (s *Service) checkSecrets(ctx context.Context) error {
	found, err := ReadSecrets(ctx, s.cfg.Destination, s.cfg.Passphrase)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = restoreTestFailure{"the secret was not in the backup", nil}
	case errors.Is(err, ErrNeedsPassphrase), errors.Is(err, ErrWrongPassphrase):
		err = restoreTestFailure{err.Error(), nil}
	case err == nil && found != s.cfg.Secrets:
		err = restoreTestFailure{"the secret in the backup is not the one of the site", nil}
	case !isDamaged(err):
		return err
	}
	known, readErr := s.storedSecretDetail(ctx)
	if readErr != nil {
		return errNotDone.Because(readErr)
	}
	if known != s.secretDetail() {
		return err // another node has stored newer secrets
	}
	if writeErr := WriteSecrets(ctx, s.cfg.Destination, s.cfg.Secrets, s.cfg.Passphrase); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	s.log.Warn("backup: the secret in the backup destination was missing or damaged, and is stored again: the next restore test checks it", "destination", s.cfg.Destination.Label())
	return err
}

func openText(sealed []byte, passphrase string) ([]byte, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), identity)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, ErrWrongPassphrase
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, damage(sealedSecretName, err)
	}
	return text, nil
}
