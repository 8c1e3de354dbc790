package app

import (
	"context"
	"io"
	"net/url"

	"atelie/internal/auth"
	"atelie/internal/supabase"
)

// ImportSupabase runs an import of a Supabase project into this site. It sets the import's Site.
func (a *App) ImportSupabase(ctx context.Context, i *supabase.Import) error {
	i.Site = supabase.Site{
		AddAccount: func(ctx context.Context, account supabase.Account, write bool) (bool, []string, error) {
			return a.Auth.ImportAccount(ctx, convertAccount(account), write)
		},
		AddRows: func(ctx context.Context, table string, rows []map[string]any, rewrite func(string) string, write bool) ([]supabase.RowResult, error) {
			results, err := a.Tables.ImportRows(ctx, table, rows, rewrite, write)
			out := make([]supabase.RowResult, len(results))
			for n, r := range results {
				out[n] = supabase.RowResult(r)
			}
			return out, err
		},
		FileSum:   a.Storage.ImportedSum,
		CheckFile: a.Storage.CheckImport,
		AddFile: func(ctx context.Context, bucket, name string, body io.Reader, size int64, cacheControl string) error {
			return a.Storage.ImportFile(ctx, bucket, name, body, size, cacheControl)
		},
		MaxFile:  int64(a.cfg.Storage.MaxUpload),
		FilesURL: fileURLOrigin(a.cfg.Server.SiteURL, a.cfg.Server.APIURL),
	}
	return i.Run(ctx)
}

// fileURLOrigin returns what precedes the path in the URLs of files that an import writes into rows. It is "" if site and backend have
// one origin: such relative URLs stay valid when the site's domain changes.
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

// convertAccount converts an account of the source to the form in which package auth imports it.
func convertAccount(a supabase.Account) auth.ImportedAccount {
	out := auth.ImportedAccount{
		ID: a.ID, Email: a.Email, Phone: a.Phone, PasswordHash: a.PasswordHash, EmailConfirmedAt: a.EmailConfirmedAt, PhoneConfirmedAt: a.PhoneConfirmedAt,
		InvitedAt: a.InvitedAt, LastSignInAt: a.LastSignInAt, BannedUntil: a.BannedUntil, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		AppMetadata: a.AppMetadata, UserMetadata: a.UserMetadata,
	}
	for _, i := range a.Identities {
		out.Identities = append(out.Identities, auth.ImportedIdentity(i))
	}
	for _, f := range a.Factors {
		out.Factors = append(out.Factors, auth.ImportedFactor(f))
	}
	return out
}
