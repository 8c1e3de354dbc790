package mail

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"atelie/internal/datafolder"
)

// This file writes mails as files, if no mail server is configured. It also finds and deletes these files.

// fileRetention is how long the file of a mail is kept. The links in the mail expire much earlier.
const fileRetention = 30 * 24 * time.Hour

// aboutHeader is a header that only mails in files have. It contains the ids of the visitors' messages that the mail is about. When a
// message is deleted, DeleteAbout finds the file by these ids.
const aboutHeader = "X-Atelie-About"

// writeFile writes the composed mail as an .eml file and returns its path. Other users of the machine cannot read the file. The
// file's name contains the time and random characters, but not the recipient.
func (m *Mailer) writeFile(composed *gomail.Msg, msg Message) (path string, err error) {
	if len(msg.About) > 0 {
		composed.SetGenHeader(aboutHeader, strings.Join(msg.About, " "))
	}
	file := filepath.Join(m.cfg.Dir, m.now().UTC().Format("20060102T150405Z")+"-"+strings.ToLower(rand.Text()[:10])+".eml")
	if err := writeAtomically(composed, file); err != nil {
		return "", fmt.Errorf("mail: %w", err)
	}
	m.log.Info("no SMTP server is set: the mail was written to a file", "kind", string(msg.Kind), "file", file)
	return file, nil
}

// writeAtomically writes the mail to a temporary file and then renames that to file. A crash therefore leaves no incomplete .eml file.
func writeAtomically(composed io.WriterTo, file string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".mail-*") // CreateTemp sets mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // does nothing after the rename
	_, err = composed.WriteTo(tmp)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	return datafolder.SyncFolder(dir)
}

// DeleteAbout deletes the files of mails about the given messages of visitors. It looks for the ids in the whole file, because
// files of earlier versions of this program have the id only in a link, and no aboutHeader.
func (m *Mailer) DeleteAbout(ctx context.Context, messageIDs []string) error {
	return m.deleteFiles(ctx, func(text []byte) bool {
		return slices.ContainsFunc(messageIDs, func(id string) bool { return bytes.Contains(text, []byte(id)) })
	})
}

// DeleteOf deletes the mails in files that FilesOf returns.
func (m *Mailer) DeleteOf(ctx context.Context, address string) error {
	return m.deleteFiles(ctx, containsAddress(address))
}

// File is a mail that was stored as a file.
type File struct {
	Name    string    `json:"file"`
	Subject string    `json:"subject"`
	At      time.Time `json:"written_at"`
}

// FilesOf returns the mails in files that go to an e-mail address or contain it.
func (m *Mailer) FilesOf(ctx context.Context, address string) (found []File, err error) {
	matches := containsAddress(address)
	err = m.eachFile(ctx, func(file string, text []byte) error {
		if !matches(text) {
			return nil
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		f := File{Name: filepath.Base(file), At: info.ModTime().UTC()}
		if parsed, err := netmail.ReadMessage(bytes.NewReader(text)); err == nil { // a file that is no mail has no subject
			f.Subject = parsed.Header.Get("Subject")
		}
		if subject, err := new(mime.WordDecoder).DecodeHeader(f.Subject); err == nil {
			f.Subject = subject
		}
		found = append(found, f)
		return nil
	})
	return found, err
}

// containsAddress returns a function that reports whether a text contains an e-mail address, and not only as a part of another
// one.
func containsAddress(address string) func(text []byte) bool {
	whole := regexp.MustCompile(`(?i)(?:^|[^\pL\d.!#$%&'*+/?^_{|}~-])` + regexp.QuoteMeta(address) + `(?:$|[^\pL\d.-]|\.(?:$|[^\pL\d]))`)
	return whole.Match
}

func (m *Mailer) deleteFiles(ctx context.Context, match func(text []byte) bool) error {
	deleted := false
	err := m.eachFile(ctx, func(file string, text []byte) error {
		if !match(text) {
			return nil
		}
		deleted = true
		return os.Remove(file)
	})
	if err != nil || !deleted {
		return err
	}
	return datafolder.SyncFolder(m.cfg.Dir)
}

// eachFile calls do for each mail in a file, with its text. A file that another job deletes meanwhile is left out.
func (m *Mailer) eachFile(ctx context.Context, do func(file string, text []byte) error) error {
	files, err := filepath.Glob(filepath.Join(m.cfg.Dir, "*.eml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := os.ReadFile(file)
		if err == nil {
			// Without the soft line breaks of quoted-printable (RFC 2045 §6.7), which may split an id.
			err = do(file, bytes.ReplaceAll(text, []byte("=\r\n"), nil))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

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
		if err == nil && m.now().Sub(info.ModTime()) > fileRetention {
			err = os.Remove(filepath.Join(m.cfg.Dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another node may have deleted the file
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, err)...)
}
