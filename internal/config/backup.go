package config

import (
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// Backup contains the settings of the backup. The comment on Config explains the tags of the fields.
type Backup struct {
	URL        string        `name:"backup-url" env:"ATELIE_BACKUP_URL" secret:"url" placeholder:"FOLDER|S3-URL" help:"Where the continuous backup is stored: a folder, or s3://… as in storage-url. off turns backups off. Default: the folder backups in the data folder, which protects from mistakes but not from the loss of the disk."`
	CopyURL    string        `name:"backup-copy-url" env:"ATELIE_BACKUP_COPY_URL" secret:"url" placeholder:"FOLDER|S3-URL" help:"A secondary destination, in the form of backup-url. The backup is copied to it once a night, after a trial restore."`
	Retention  time.Duration `name:"backup-retention" env:"ATELIE_BACKUP_RETENTION" default:"720h" help:"How far back the site can be restored. With SQLite, to each of the newest 100,000 seconds with writes; for older ones, in steps of 10 seconds. With PostgreSQL, to each night. Deleted data stays in the backup for this time."`
	Passphrase string        `name:"backup-passphrase" env:"ATELIE_BACKUP_PASSPHRASE" secret:"yes" help:"Encrypts the site's secret in the backup; at least 12 characters. Without a passphrase, everyone who can read the backup can read the secret. Keep the passphrase elsewhere: a restore needs it."`
}

// BackupOff is the value of backup-url that turns backups off.
const BackupOff = "off"

// Location is the parsed value of a setting or flag that says where the files of a site or a backup are: in a folder or in a bucket.
type Location struct {
	Folder string // absolute path; "" if Bucket is set
	Bucket *S3    // nil if the location is a folder
}

// Label returns the name of the location for texts. It contains no secrets.
func (l *Location) Label() string {
	if l.Bucket != nil {
		return "s3 " + l.Bucket.Endpoint + "/" + l.Bucket.Bucket + "/" + l.Bucket.Prefix
	}
	return l.Folder
}

// ParseLocation parses the path of a folder or the URL of a bucket (s3://…). setting is the name of the setting or flag whose value is text;
// errors begin with this name.
func ParseLocation(setting, text string) (*Location, error) {
	if strings.HasPrefix(text, "s3://") {
		bucket, err := ParseS3(setting, text)
		if err != nil {
			return nil, err
		}
		return &Location{Bucket: bucket}, nil
	}
	if text == "" || strings.Contains(text, "://") {
		return nil, errors.New(setting + ": is neither a folder nor s3://…")
	}
	folder, err := filepath.Abs(text)
	return &Location{Folder: folder}, err
}

// BackupLocation returns the location of the backup, or nil if backups are off.
func (c *Config) BackupLocation() (*Location, error) {
	switch c.Backup.URL {
	case BackupOff:
		return nil, nil
	case "":
		return ParseLocation("backup-url", c.BackupDir())
	}
	return ParseLocation("backup-url", c.Backup.URL)
}

// SecondaryBackupLocation returns the location of the secondary backup destination, or nil if there is none.
func (c *Config) SecondaryBackupLocation() (*Location, error) {
	if c.Backup.CopyURL == "" {
		return nil, nil
	}
	return ParseLocation("backup-copy-url", c.Backup.CopyURL)
}

// BackupDir returns the folder of the backup if backup-url is not set.
func (c *Config) BackupDir() string { return filepath.Join(c.Server.DataDir, "backups") }

// minPassphrase is the minimum length of a passphrase in bytes.
const minPassphrase = 12

func (c *Config) validateBackup() error {
	var m mistakes
	primary, err := c.BackupLocation()
	m.add(err)
	secondary, err := c.SecondaryBackupLocation()
	m.add(err)
	m.addIf(secondary != nil && c.Backup.URL == BackupOff, "backup-copy-url: there is nothing to copy while backup-url is off")
	m.addIf(primary != nil && secondary != nil && primary.Label() == secondary.Label(), "backup-copy-url: must differ from backup-url")
	m.addIf(c.Backup.Retention < time.Hour, "backup-retention: must be at least 1h")
	m.addIf(c.Backup.Passphrase != "" && len(c.Backup.Passphrase) < minPassphrase, "backup-passphrase: must have at least %d characters", minPassphrase)
	return m.join()
}
