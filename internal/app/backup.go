package app

import (
	"context"
	"path/filepath"
	"time"

	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/metrics"
	"atelie/internal/s3client"
)

// This file connects the continuous backup (package backup) with the settings, the file store and the metrics.

// wireBackup creates the backup service, unless backups are off.
func (a *App) wireBackup(ctx context.Context) error {
	primary, err := a.cfg.BackupLocation()
	if err != nil || primary == nil {
		return err
	}
	marker, err := db.ReadMarker(ctx, a.DB) // an id of the site
	if err != nil {
		return err
	}
	secondary, err := a.cfg.SecondaryBackupLocation()
	if err != nil {
		return err
	}
	cfg := backup.Config{
		Destination: OpenBackupDestination(primary),
		OnDataDisk:  a.onDataDisk(primary.Folder),
		SplitByNode: a.isBackupSplitByNode(),
		Retention:   a.cfg.Backup.Retention,
		SiteID:      marker,
		Secrets:     backup.Secrets{Current: a.cfg.Auth.JWTSecret, Previous: a.cfg.Auth.JWTSecretPrevious},
		Passphrase:  a.cfg.Backup.Passphrase,
		OpenBlob:    a.blobs.Open,
		DiskFull:    a.space.IsFull,
		FreeSpace:   func() int64 { return a.space.Usage().Free },
		ScratchDir:  filepath.Join(a.cfg.Server.DataDir, datafolder.Scratch),
		Log:         a.log,
	}
	if secondary != nil {
		cfg.Secondary, cfg.SecondaryOnDataDisk = OpenBackupDestination(secondary), a.onDataDisk(secondary.Folder)
	}
	a.Backup = backup.New(a.DB, cfg, a.now)
	return nil
}

// OpenBackupDestination returns the backup destination (a folder or a bucket) at a location, without connecting to it.
func OpenBackupDestination(l *config.Location) backup.Destination {
	return backup.OpenDestination(backup.DestinationConfig{Folder: l.Folder, Bucket: (*s3client.Config)(l.Bucket)})
}

// diskTimeout limits how long onDataDisk waits for the disk of a folder.
const diskTimeout = 2 * time.Second

// onDataDisk reports whether a folder is on the disk of the data folder. A backup on this disk is lost together with the site. onDataDisk
// returns false for "", which is the Folder of a Location that is a bucket, and for a network mount that does not respond. It returns true
// if the disk cannot be determined.
func (a *App) onDataDisk(folder string) bool {
	if folder == "" {
		return false
	}
	result := make(chan bool, 1)
	go func() {
		isSame, err := datafolder.SameDisk(a.cfg.Server.DataDir, folder)
		result <- isSame || err != nil
	}()
	select {
	case onDisk := <-result:
		return onDisk
	case <-time.After(diskTimeout):
		return false
	}
}

// isBackupSplitByNode reports whether each node (server of the site) could store only its own part of the backup, in its own data folder: the
// nodes share the database and the files, and backup-url is not set. A single node can have its database in PostgreSQL and its files in a
// bucket too. Its operator sets backup-url to a folder to say that the whole backup is stored there.
func (a *App) isBackupSplitByNode() bool {
	return a.cfg.Backup.URL == "" && a.DB.Dialect == db.Postgres && a.cfg.Storage.URL != ""
}

// backupDays returns for how many days at most backups contain what was deleted; 0 if backups are off. Snapshots are deleted at most
// two days after the retention has ended, and in the secondary destination one night later.
func (a *App) backupDays() int {
	if location, err := a.cfg.BackupLocation(); err != nil || location == nil {
		return 0 // wireBackup returns the error
	}
	const day = 24 * time.Hour
	return int((a.cfg.Backup.Retention+day-1)/day) + 3
}

// backupState returns the state of the backup for the metrics.
func (a *App) backupState(ctx context.Context) (metrics.BackupState, error) {
	if a.Backup == nil {
		return metrics.BackupState{}, nil
	}
	status, err := a.Backup.Status(ctx)
	state := metrics.BackupState{On: true, Age: -1, Waiting: status.WaitingFiles}
	if !status.LastBackup.IsZero() {
		state.Age = max(a.now().Sub(status.LastBackup), 0)
	}
	return state, err
}
