package config

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// Backup contains the places of the backup, its retention, and the passphrase that seals the site's secret in it. CopyURL has the
// form of URL, but no default. Config explains the tag secret.
type Backup struct {
	URL        string        `name:"backup-url" env:"ATELIE_BACKUP_URL" secret:"url" placeholder:"PLACE" help:"The place of the continuous backup: a folder, or s3://… as in storage-url; off turns backups off. Without a value it is the folder backups in the data folder, which protects from mistakes and not from a lost disk."`
	CopyURL    string        `name:"backup-copy-url" env:"ATELIE_BACKUP_COPY_URL" secret:"url" placeholder:"PLACE" help:"A second place, in the form of backup-url. The backup is copied to it once a night, after the proof (a trial restore)."`
	Retention  time.Duration `name:"backup-retention" env:"ATELIE_BACKUP_RETENTION" default:"720h" help:"How far back the site can be restored. SQLite: to any of the newest 100,000 seconds with writes, before these to every tenth second. PostgreSQL: to any night. Deleted data stays in the backup for as long."`
	Passphrase string        `name:"backup-passphrase" env:"ATELIE_BACKUP_PASSPHRASE" secret:"yes" help:"Encrypts the site's secret in the backup; at least 12 characters. Without a passphrase, everyone who can read the backup can read the secret. Keep the passphrase elsewhere: a restore needs it."`
}

// BackupOff is the value of backup-url that turns backups off.
const BackupOff = "off"

// Place says where files are, such as those of a backup: in a folder or in a bucket. It is a parsed setting or flag, and does not
// read or write anything; for backups app.OpenBackupPlace turns it into a backup.Place.
type Place struct {
	Folder string // absolute path; "" if Bucket is set
	Bucket *S3    // nil if the place is a folder
}

// Label names the place in texts, without secrets.
func (p *Place) Label() string {
	if p.Bucket != nil {
		return "s3 " + p.Bucket.Endpoint + "/" + p.Bucket.Bucket + "/" + p.Bucket.Prefix
	}
	return p.Folder
}

// ParsePlace parses text, which is the path of a folder or the URL of a bucket (s3://…). setting is the name of the setting or flag
// that contains text; errors begin with it.
func ParsePlace(setting, text string) (*Place, error) {
	if strings.HasPrefix(text, "s3://") {
		bucket, err := ParseS3(setting, text)
		if err != nil {
			return nil, err
		}
		return &Place{Bucket: bucket}, nil
	}
	if text == "" || strings.Contains(text, "://") {
		return nil, errors.New(setting + ": is neither a folder nor s3://…")
	}
	folder, err := filepath.Abs(text)
	return &Place{Folder: folder}, err
}

// BackupPlace returns the place of the backup, or nil if backups are off.
func (c *Config) BackupPlace() (*Place, error) {
	switch c.Backup.URL {
	case BackupOff:
		return nil, nil
	case "":
		return ParsePlace("backup-url", c.BackupDir())
	}
	return ParsePlace("backup-url", c.Backup.URL)
}

// BackupCopyPlace returns the second place of the backup, or nil if there is none.
func (c *Config) BackupCopyPlace() (*Place, error) {
	if c.Backup.CopyURL == "" {
		return nil, nil
	}
	return ParsePlace("backup-copy-url", c.Backup.CopyURL)
}

// BackupDir returns the folder of the backup if no place is set.
func (c *Config) BackupDir() string { return filepath.Join(c.Server.DataDir, "backups") }

// minPassphrase is the least length of a passphrase in bytes.
const minPassphrase = 12

func (c *Config) validateBackup() error {
	var m mistakes
	first, err := c.BackupPlace()
	m.add(err)
	second, err := c.BackupCopyPlace()
	m.add(err)
	m.check(second != nil && c.Backup.URL == BackupOff, "backup-copy-url: there is nothing to copy while backup-url is off")
	m.check(first != nil && second != nil && first.Label() == second.Label(), "backup-copy-url: must be another place than backup-url")
	m.check(c.Backup.Retention < time.Hour, "backup-retention: must be at least 1h")
	m.check(c.Backup.Passphrase != "" && len(c.Backup.Passphrase) < minPassphrase, "backup-passphrase: must have at least %d characters", minPassphrase)
	return m.join()
}
