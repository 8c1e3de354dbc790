// Package datafolder manages the folder that holds the database, the secret and the files of a site: its permissions, its
// lock and the free space on its disk.
package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names of the files and folders in a data folder.
const (
	Database = "atelie.db" // the SQLite database; the names of SQLite's other files begin with this name
	Files    = "files"     // uploaded files
	Mail     = "mail"      // mails, if no SMTP server is configured
	Scratch  = "scratch"   // temporary files
	Backups  = "backups"   // the backup, if no other destination is set

	secretFile         = "jwt-secret"          // the current secret, from which the program derives its keys
	previousSecretFile = "jwt-secret.previous" // the secret before a rotation, while it is still accepted
	lockFile           = "server.lock"         // locked by the process that uses the folder
	demoPasswordFile   = "demo-owner-password" // password of the owner's account of a demo site
)

// Permissions of the files and folders that the program creates: only the user that runs it has access.
const (
	fileMode   = 0o600
	folderMode = 0o700
)

// Prepare creates the data folder if it is missing. In an existing data folder, Prepare removes other users' permissions on everything that
// the program stores there. It logs which permissions it has changed, and which it could not change. On Windows it changes none, because
// files have no permission bits there.
func Prepare(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("data-dir: %w", err)
	}
	if !hasPermissionBits {
		return nil
	}
	var r restrictor
	err := r.restrict(dir)
	if len(r.changed) > 0 {
		log.Info("other users had permissions in the data folder: these are removed", "folder", dir, "changed", strings.Join(r.changed, ", "))
	}
	if len(r.skipped) > 0 {
		log.Warn("other users keep permissions in the data folder: remove them by hand if nobody else may read it", "folder", dir, "left", strings.Join(r.skipped, ", "))
	}
	if err != nil {
		return fmt.Errorf("data-dir: %w", err)
	}
	return nil
}

// RemoveFile removes a file. It is not an error if the file is missing.
func RemoveFile(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// restrictor removes other users' permissions on files and folders.
type restrictor struct {
	changed []string // names for the log
	skipped []string // names and reasons for the log
}

// isProgramEntry reports whether the program creates an entry (file or folder) with this name in the data folder.
func isProgramEntry(name string) bool {
	switch name {
	case Files, Mail, Scratch, Backups, secretFile, previousSecretFile, lockFile, demoPasswordFile, reserveName:
		return true
	}
	return strings.HasPrefix(name, Database) || strings.HasPrefix(name, temporaryPrefix)
}

// restrict removes other users' permissions on the data folder and on the program's entries in it.
func (r *restrictor) restrict(dir string) error {
	info, err := os.Stat(dir) // the folder itself may be a link
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	foreign := slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return isProgramEntry(e.Name()) })
	shared := info.Mode().Perm()&0o077 != 0 // other users have some permission
	switch {
	case !shared:
	case !isOwnedByUser(info):
		r.skipped = append(r.skipped, "the folder itself, which belongs to another user")
	case len(foreign) > 0 || info.Mode()&fs.ModeSticky != 0: // /tmp, or somebody's home
		r.skipped = append(r.skipped, "the folder itself, for other things lie in it too")
	default:
		if err := os.Chmod(dir, folderMode); err != nil {
			return err
		}
		if len(entries) > 0 { // an empty folder had nothing to read, so nothing is logged
			r.changed = append(r.changed, "the folder itself")
		}
	}
	for _, e := range entries {
		if isProgramEntry(e.Name()) {
			if err := r.restrictEntry(filepath.Join(dir, e.Name()), e.Name(), shared); err != nil {
				return err
			}
		}
	}
	return nil
}

// restrictEntry removes other users' permissions on a file or folder. If other users could reach the entries of a folder, it
// restricts these too. name is for the log; reachable is true if other users could enter the folders above.
func (r *restrictor) restrictEntry(path, name string, reachable bool) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) { // a temporary file that a running server has removed
		return nil
	}
	if err != nil {
		return err
	}
	mode := fs.FileMode(fileMode)
	switch {
	case info.IsDir():
		mode = folderMode
	case !info.Mode().IsRegular(): // a link's target is not the program's
		return nil
	}
	shared := info.Mode().Perm()&0o077 != 0
	if shared && !isOwnedByUser(info) {
		r.skipped = append(r.skipped, name+", which belongs to another user")
		return nil
	}
	if shared {
		if err := os.Chmod(path, mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(r.changed) < 10 { // keeps the log line short: there may be thousands of pictures
			r.changed = append(r.changed, name)
		}
	}
	if !info.IsDir() || !shared || !reachable {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.restrictEntry(filepath.Join(path, e.Name()), filepath.Join(name, e.Name()), true); err != nil {
			return err
		}
	}
	return nil
}
