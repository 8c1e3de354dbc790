package datafolder

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// This file reads, creates and rotates the secret of a data folder. From the secret the program derives the keys with which it signs tokens
// and encrypts values in the database.

const (
	minSecretLength = 32                     // minimum length in bytes
	temporaryPrefix = "." + secretFile + "-" // prefix of the names of temporary files
)

// SecretFile returns the path of the file with the data folder's secret.
func SecretFile(dir string) string { return filepath.Join(dir, secretFile) }

// PreviousSecretFile returns the path of the file with the data folder's previous secret.
func PreviousSecretFile(dir string) string { return filepath.Join(dir, previousSecretFile) }

// Secret reads the data folder's secret. It returns "" if there is none.
func Secret(dir string) (string, error) { return readSecret(dir, secretFile, "jwt-secret") }

// readSecret reads a secret from the file with the given name in the data folder. It returns "" if the file is missing. setting is the
// name of the secret's setting, with which the texts of errors begin.
func readSecret(dir, name, setting string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < minSecretLength {
		return "", fmt.Errorf("%s: %s is damaged: it has fewer than %d characters; restore it from a backup", setting, path, minSecretLength)
	}
	return secret, nil
}

// newSecret returns 256 random bits in hexadecimal digits.
func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return hex.EncodeToString(random)
}

// MakeSecret creates the data folder's secret and returns it. If another process has already created a secret, MakeSecret returns
// that secret.
func MakeSecret(dir string) (string, error) {
	if err := WriteSecretIfMissing(dir, newSecret()); err != nil {
		return "", fmt.Errorf("jwt-secret: %w", err)
	}
	return Secret(dir)
}

// WriteSecretIfMissing atomically stores the secret of a data folder. If the data folder already has a secret, WriteSecretIfMissing changes
// nothing and returns nil.
func WriteSecretIfMissing(dir, secret string) (err error) {
	tmp, err := writeTemporary(dir, secret)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(tmp)) }()
	if err := os.Link(tmp, SecretFile(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(dir)
}

// WriteSecrets stores the previous secret, unless it is "". Then it stores the secret, unless the data folder already has one.
func WriteSecrets(dir, secret, previous string) error {
	if previous != "" {
		if err := replaceFile(dir, previousSecretFile, previous); err != nil {
			return fmt.Errorf("jwt-secret-previous: %w", err)
		}
	}
	return WriteSecretIfMissing(dir, secret)
}

// PreviousSecret reads the secret that was current before RotateSecret. It returns "" if there is none, and also if a rotation
// was interrupted before it replaced the current secret: then both files hold the same secret.
func PreviousSecret(dir string) (string, error) {
	previous, err := readSecret(dir, previousSecretFile, "jwt-secret-previous")
	if err != nil || previous == "" {
		return "", err
	}
	current, err := Secret(dir)
	if previous == current {
		previous = ""
	}
	return previous, err
}

// RotateSecret replaces the secret with a new one and keeps the current one as the previous secret. At each moment, also after
// a crash, the folder holds every secret that data may be sealed with. It fails if there is no secret, or if there still is a
// previous one, which must be removed first.
func RotateSecret(dir string) error {
	previous, err := PreviousSecret(dir)
	if err != nil {
		return err
	}
	if previous != "" {
		return errors.New("secret: the one before this one is still there; remove it first with atelie secret forget")
	}
	current, err := Secret(dir)
	if err != nil {
		return err
	}
	if current == "" {
		return errors.New("secret: the data folder has none")
	}
	if err := replaceFile(dir, previousSecretFile, current); err != nil {
		return fmt.Errorf("jwt-secret-previous: %w", err)
	}
	if err := replaceFile(dir, secretFile, newSecret()); err != nil {
		return fmt.Errorf("jwt-secret: %w", err)
	}
	return nil
}

// ForgetPreviousSecret removes the previous secret. The caller must know that no data is sealed with it any more.
func ForgetPreviousSecret(dir string) error {
	if err := os.Remove(PreviousSecretFile(dir)); err != nil {
		return fmt.Errorf("jwt-secret-previous: %w", err)
	}
	return SyncFolder(dir)
}

// replaceFile writes a file atomically: after a crash the old file or the whole new file is there.
func replaceFile(dir, name, text string) error {
	tmp, err := writeTemporary(dir, text)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return SyncFolder(dir)
}

// writeTemporary writes the text and a line end into a new file of the folder, and returns its path.
func writeTemporary(dir, text string) (path string, err error) {
	tmp, err := os.CreateTemp(dir, temporaryPrefix+"*") // created with mode 0600
	if err != nil {
		return "", err
	}
	_, err = tmp.WriteString(text + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}
