package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// keepFiles is how long mails lie in the folder; their links have expired long before.
const keepFiles = 30 * 24 * time.Hour

// keep writes the message as a file that mail programs open, readable by this user alone. Its name has the time and
// some randomness; who it is for stands only inside.
func (m *Mailer) keep(msg *gomail.Msg, kind Kind) (where string, err error) {
	if err := os.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	tmp, err := os.CreateTemp(m.cfg.Dir, ".mail-*") // made with mode 0600
	if err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when all went well
	_, err = msg.WriteTo(tmp)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	file := filepath.Join(m.cfg.Dir, m.now().UTC().Format("20060102T150405Z")+"-"+strings.ToLower(rand.Text()[:10])+".eml")
	if err := os.Rename(tmp.Name(), file); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	if err := syncDir(m.cfg.Dir); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	m.log.Info("no SMTP server is set: the mail lies in a file", "kind", string(kind), "file", file)
	return file, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Purge removes mails from the folder 30 days after they were written, and pieces that a crash left.
func (m *Mailer) Purge(ctx context.Context) error {
	entries, err := os.ReadDir(m.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if filepath.Ext(e.Name()) != ".eml" && !strings.HasPrefix(e.Name(), ".mail-") {
			continue
		}
		info, err := e.Info()
		if err == nil && m.now().Sub(info.ModTime()) > keepFiles {
			err = os.Remove(filepath.Join(m.cfg.Dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another node was quicker
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, err)...)
}
