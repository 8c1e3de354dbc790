package app

import (
	"context"
	"path/filepath"
	"strings"

	"atelie/internal/backup"
	"atelie/internal/config"
	"atelie/internal/datafolder"
	"atelie/internal/db"
	"atelie/internal/metrics"
	"atelie/internal/s3client"
	"atelie/internal/storage"
)

// wireBackup creates the backup service, unless backups are off.
func (a *App) wireBackup(ctx context.Context) error {
	place, err := a.cfg.BackupPlace()
	if err != nil || place == nil {
		return err
	}
	marker, err := db.ReadMarker(ctx, a.DB)
	if err != nil {
		return err
	}
	second, err := a.cfg.BackupCopyPlace()
	if err != nil {
		return err
	}
	sameDisk := isWithin(place.Folder, a.cfg.Server.DataDir)
	var copyTo backup.Place // stays nil if there is no second place
	if second != nil {
		copyTo = OpenBackupPlace(second)
		sameDisk = sameDisk && isWithin(second.Folder, a.cfg.Server.DataDir)
	}
	a.Backup = backup.New(a.DB, backup.Config{
		Place: OpenBackupPlace(place), SameDisk: sameDisk, Retention: a.cfg.Backup.Retention, Site: marker,
		Secrets: backup.Secrets{Current: a.cfg.Auth.JWTSecret, Previous: a.cfg.Auth.JWTSecretPrevious}, Passphrase: a.cfg.Backup.Passphrase,
		OpenBlob: a.blobs.Open,
		Full:     func() bool { return a.space.Usage().Level == datafolder.Full },
		Free:     func() int64 { return a.space.Usage().Free },
		CopyTo:   copyTo,
		Scratch:  filepath.Join(a.cfg.Server.DataDir, datafolder.Scratch), Log: a.log,
	}, a.now)
	return nil
}

// OpenBackupPlace opens the configured place of a backup without using it.
func OpenBackupPlace(p *config.Place) backup.Place {
	if p.Bucket != nil {
		bucket := s3client.Config(*p.Bucket)
		return backup.OpenPlace(backup.PlaceConfig{Bucket: &bucket})
	}
	return backup.OpenPlace(backup.PlaceConfig{Folder: p.Folder})
}

// isWithin reports whether folder is outer or inside it. It returns false for "", the folder of a place in a bucket.
func isWithin(folder, outer string) bool {
	outer, err := filepath.Abs(outer)
	if err != nil || folder == "" {
		return false
	}
	inside, err := filepath.Rel(outer, folder)
	return err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}

// blobRecorder returns the functions that tell the backup which files were added and removed.
func (a *App) blobRecorder() storage.Recorder {
	if a.Backup == nil {
		return storage.NoRecorder
	}
	return storage.Recorder{Added: a.Backup.AddBlobs, Removed: a.Backup.RemoveBlob}
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
