package mail

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"atelie/internal/datafolder"
)

// fileLife is how long a mail in a file is kept. The links in the mail expire much earlier.
const fileLife = 30 * 24 * time.Hour

// aboutHeader is a header that only mails in files have: the ids of the visitors' messages that the mail is about. DeleteAbout
// searches for these ids.
const aboutHeader = "X-Atelie-About"

// writeFile writes the mail as an .eml file and returns its path. It is used when no mail server is set. Other users of the
// machine cannot read the file. Its name contains the time and random characters, but not the recipient.
func (m *Mailer) writeFile(out *gomail.Msg, msg Message) (path string, err error) {
	if len(msg.About) > 0 {
		out.SetGenHeader(aboutHeader, strings.Join(msg.About, " "))
	}
	file := filepath.Join(m.cfg.Dir, m.now().UTC().Format("20060102T150405Z")+"-"+strings.ToLower(rand.Text()[:10])+".eml")
	if err := writeAtomically(out, file); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	m.log.Info("no SMTP server is set: the mail was written to a file", "kind", string(msg.Kind), "file", file)
	return file, nil
}

// writeAtomically writes a temporary file and renames it to file, so that a crash leaves no incomplete .eml file.
func writeAtomically(out io.WriterTo, file string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".mail-*") // CreateTemp sets mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // fails after the rename, which is no error
	_, err = out.WriteTo(tmp)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	return datafolder.SyncFolder(dir)
}

// DeleteAbout deletes the files of mails about the given messages of visitors. It looks for the ids in the whole file, because
// files of earlier versions have no aboutHeader, only a link with the id.
func (m *Mailer) DeleteAbout(ctx context.Context, messageIDs []string) error {
	files, err := filepath.Glob(filepath.Join(m.cfg.Dir, "*.eml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := os.ReadFile(file)
		text = unfold(text)
		if err == nil && slices.ContainsFunc(messageIDs, func(id string) bool { return bytes.Contains(text, []byte(id)) }) {
			err = os.Remove(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another job may have deleted the file
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	return datafolder.SyncFolder(m.cfg.Dir)
}

// unfold removes the soft line breaks of quoted-printable (RFC 2045 §6.7), which may split an id.
func unfold(text []byte) []byte { return bytes.ReplaceAll(text, []byte("=\r\n"), nil) }

// Purge deletes mails in files 30 days after they were written, and temporary files of that age that a crash left.
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
		if err == nil && m.now().Sub(info.ModTime()) > fileLife {
			err = os.Remove(filepath.Join(m.cfg.Dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another node may have deleted the file
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, err)...)
}
