package app

import (
	"context"
	"errors"
	"net/url"

	"atelie/internal/activity"
	"atelie/internal/supabase"
)

// ImportSupabase runs an import of a Supabase project into this site, for the command "atelie import supabase". It sets the import's field
// Site, which has the functions that check and store the data. If the import added anything, ImportSupabase adds an entry to the activity
// log, even if the import failed later.
func (a *App) ImportSupabase(ctx context.Context, i *supabase.Import) error {
	i.Site = supabase.Site{
		AddAccount:   a.Auth.ImportAccount,
		AddRows:      a.Tables.ImportRows,
		FileChecksum: a.Storage.ImportedSum, // of a file as it was imported, to recognize it in a repeated import
		CheckFile:    a.Storage.CheckImport,
		AddFile:      a.Storage.ImportFile,
		MaxFileBytes: int64(a.cfg.Storage.MaxUpload),
		FilesURL:     fileURLOrigin(a.cfg.Server.SiteURL, a.cfg.Server.APIURL),
	}
	err := i.Run(ctx)
	isDryRun := !i.Write
	if isDryRun || i.Added == 0 {
		return err
	}
	ctx = context.WithoutCancel(ctx) // an interrupted import is recorded too
	return errors.Join(err, activity.RecordSite(ctx, a.DB, activity.SupabaseImport, "" /* no title */, a.now()))
}

// fileURLOrigin returns the beginning of the URLs of files that an import writes into rows. If site and backend have the same origin
// (scheme and host), it returns "". The URLs are then relative, and stay valid when the site's domain changes. Otherwise it returns apiURL,
// the public URL of the backend.
func fileURLOrigin(siteURL, apiURL string) string {
	site, err := url.Parse(siteURL)
	if err != nil {
		return apiURL
	}
	if api, err := url.Parse(apiURL); err == nil && site.Scheme == api.Scheme && site.Host == api.Host {
		return ""
	}
	return apiURL
}
