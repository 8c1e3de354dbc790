package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"filippo.io/age"
)

// Secrets are the site's current secret and the previous one. Previous is "" unless values can still be sealed with it.
type Secrets struct {
	Current  string `json:"jwt_secret"`
	Previous string `json:"jwt_secret_previous,omitempty"`
}

// Errors of ReadSecrets.
var (
	ErrNeedsPassphrase = errors.New("the secret in the backup is sealed: set ATELIE_BACKUP_PASSPHRASE to the passphrase of that time")
	ErrWrongPassphrase = errors.New("the passphrase does not open the secret in the backup: set ATELIE_BACKUP_PASSPHRASE to the one with which it was sealed")
)

// scryptWorkFactor is the exponent of scrypt's cost, which is 32 MB of memory and a tenth of a second. The default of age would take
// 256 MB, which a small machine does not have while it runs a site.
const scryptWorkFactor = 15

// WriteSecrets stores the secrets in a place: sealed by the passphrase, or readable if the passphrase is "". It deletes the object of
// the other form.
func WriteSecrets(ctx context.Context, p Place, s Secrets, passphrase string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	name, other := secretName, sealedSecretName
	if passphrase != "" {
		name, other = other, name
		if text, err = sealText(text, passphrase); err != nil {
			return err
		}
	}
	if err := p.Write(ctx, name, bytes.NewReader(text)); err != nil {
		return err
	}
	return p.Delete(ctx, other)
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
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return sealed.Bytes(), nil
}

// ReadSecrets reads the secrets of a backup. The error is fs.ErrNotExist if the place has none, ErrNeedsPassphrase,
// ErrWrongPassphrase or a *Damage.
func ReadSecrets(ctx context.Context, p Place, passphrase string) (s Secrets, err error) {
	name := sealedSecretName
	text, err := readAll(ctx, p, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		name = secretName
		if text, err = readAll(ctx, p, name); err != nil {
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
	if err := json.Unmarshal(text, &s); err != nil || s.Current == "" {
		return s, damage(name, err)
	}
	return s, nil
}

func openText(sealed []byte, passphrase string) ([]byte, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), identity)
	var mismatch *age.NoIdentityMatchError
	if errors.As(err, &mismatch) {
		return nil, ErrWrongPassphrase
	}
	if err != nil {
		return nil, damage(sealedSecretName, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, damage(sealedSecretName, err)
	}
	return text, nil
}
