package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file imports an archive into an empty site (a site without rows of content and without files), for the command atelie import.

// unfinishedImportKey is the key of a row of site_settings that exists while an import is unfinished. Its value is an unfinishedImport.
const unfinishedImportKey = "import"

// Errors of an import. The operator (who runs the server) reads their texts.
var (
	ErrRefused     = errors.New("the site does not accept all files of the archive")
	errOtherImport = errors.New("this site has an unfinished import of another archive: run that import again, or import this archive into a new data folder and database")
)

// errDryRun ends a transaction that was only a test, so that the transaction is rolled back. Import never returns this error.
var errDryRun = errors.New("dry run")

// unfinishedImport says which archive is being imported.
type unfinishedImport struct {
	Archive string `json:"archive"` // Archive.manifestSHA256
}

// RefusedFile is a file of an archive that the site does not accept.
type RefusedFile struct {
	Path    string   // path in the archive
	Object  string   // bucket/name
	Reason  string   // message for the operator
	ShownBy []string // table, id and column of the rows that have the file's URL, such as "products 4f1c… (image_url)"
}

// Import imports an archive into an empty site. Verify must have succeeded before. The steps are:
//  1. Insert all rows in a transaction that is rolled back, as a test.
//  2. Save the settings of the buckets (named groups of stored files).
//  3. Store the files, each as an upload.
//  4. Insert all rows in one transaction.
//
// The site's owners (people with access to the admin area) and its keys stay. If Import fails or is interrupted, the site has no row of
// the archive, and the same import can be run again. The second run skips the files that are stored already.
//
// Import returns all files that the site refuses. If there are any, leaveOut decides: if true, the import succeeds without these files; if
// false, it fails with ErrRefused. The usual cause is a setting, such as the maximum size of uploads, which the operator can change.
func (a *Archive) Import(ctx context.Context, cfg Config, leaveOut bool, report Progress) (refused []RefusedFile, err error) {
	if err := a.begin(ctx, cfg); err != nil {
		return nil, err
	}
	if err := a.eachRow(bucketsList, func(bucket json.RawMessage) error { return cfg.SaveBucket(ctx, bucket) }); err != nil {
		return nil, err
	}
	if refused, err = a.storeFiles(ctx, cfg, report); err != nil {
		return nil, err
	}
	if err := a.setShownBy(refused); err != nil {
		return nil, err
	}
	if len(refused) > 0 && !leaveOut {
		return refused, ErrRefused
	}
	return refused, cfg.DB.WithTx(ctx, func(tx *db.Tx) error {
		if err := a.insertRows(ctx, tx, cfg); err != nil {
			return err
		}
		return settings.Delete(ctx, tx, unfinishedImportKey)
	})
}

// begin checks that the database accepts all rows, before any file is stored: it inserts them in a transaction that it rolls back. Then it
// records that the import has begun.
func (a *Archive) begin(ctx context.Context, cfg Config) error {
	err := cfg.DB.WithTx(ctx, func(tx *db.Tx) error {
		if err := a.insertRows(ctx, tx, cfg); err != nil {
			return err
		}
		return errDryRun
	})
	if !errors.Is(err, errDryRun) {
		return err
	}
	return cfg.DB.WithTx(ctx, func(tx *db.Tx) error {
		if err := a.checkEmpty(ctx, tx, cfg); err != nil {
			return err
		}
		return settings.Insert(ctx, tx, unfinishedImportKey, unfinishedImport{a.manifestSHA256}, cfg.Now())
	})
}

// checkEmpty returns an error unless the site has no content, or only the files of an unfinished import of this archive.
func (a *Archive) checkEmpty(ctx context.Context, tx *db.Tx, cfg Config) error {
	for _, table := range exported {
		hasRows, err := hasContent(ctx, tx, table)
		if err != nil {
			return err
		}
		if hasRows {
			return fmt.Errorf("the site is not empty, its table %s has rows: import into a new data folder and database", table)
		}
	}
	begun, err := settings.Value(ctx, tx, unfinishedImportKey)
	if err != nil {
		return err
	}
	if begun != "" {
		var m unfinishedImport
		if err := json.Unmarshal([]byte(begun), &m); err != nil {
			return err
		}
		if m.Archive != a.manifestSHA256 {
			return errOtherImport
		}
		return nil
	}
	stored, err := cfg.Files(ctx, tx)
	if err == nil && len(stored) > 0 {
		err = fmt.Errorf("the site is not empty, it has %d files: import into a new data folder and database", len(stored))
	}
	return err
}

// insertRows inserts all rows of the archive, if the site is empty (checkEmpty).
func (a *Archive) insertRows(ctx context.Context, tx *db.Tx, cfg Config) error {
	if err := a.checkEmpty(ctx, tx, cfg); err != nil {
		return err
	}
	if err := settings.Delete(ctx, tx, guideKey); err != nil { // the archive may have one of its own
		return err
	}
	for _, table := range exported {
		if err := a.eachTableRow(table, cfg.APIURL, func(row map[string]json.RawMessage) error {
			return db.InsertJSON(ctx, tx, table, row)
		}); err != nil {
			return err
		}
	}
	return nil
}

// storeFiles stores the files that are not stored yet, and sets the focus points. It returns the files that the site refuses.
func (a *Archive) storeFiles(ctx context.Context, cfg Config, report Progress) (refused []RefusedFile, err error) {
	existing, err := cfg.Files(ctx, cfg.DB)
	if err != nil {
		return nil, err
	}
	stored := map[string]string{}
	for _, f := range existing {
		stored[f.Bucket+"/"+f.Name] = f.SHA256
	}
	for i, f := range a.siteFiles {
		report("files", i, len(a.siteFiles))
		object := f.Bucket + "/" + f.Name
		if sum, ok := stored[object]; ok && sum != f.SHA256 {
			return nil, fmt.Errorf("the site has another file %s: import into a new data folder and database", object)
		} else if !ok {
			err := a.storeFile(ctx, cfg, f)
			if refusal, ok := errors.AsType[*apperr.Error](err); ok && refusal.Status < http.StatusInternalServerError {
				refused = append(refused, RefusedFile{Path: f.Path, Object: object, Reason: refusal.Message})
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: this file could not be stored, and nothing is shown yet; repair the cause and import again: %w", f.Path, err)
			}
		}
		if f.Focus != nil {
			if err := cfg.SetFocus(ctx, f); err != nil {
				return nil, err
			}
		}
	}
	report("files", len(a.siteFiles), len(a.siteFiles))
	return refused, nil
}

func (a *Archive) storeFile(ctx context.Context, cfg Config, f File) (err error) {
	body, err := a.zipEntries[f.Path].Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	return cfg.Put(ctx, f, body)
}
