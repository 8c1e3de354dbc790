package archive

import (
	"fmt"
	"slices"

	"atelie/internal/db"
)

// This file decides for each table whether an archive (the zip file of the command "atelie export") has its rows. A new table needs an
// entry in exported or in leftOut.

// exported are the tables whose rows are in an archive, in the order in which an import inserts them. Of site_settings, an archive has only
// the settings without secrets (settings.InArchive lists them).
var exported = []string{
	"products", "reviews", "cover_images", "series", "series_works", "series_old_slugs",
	"contact_submissions", "contact_quarantine", "contact_replies", "contact_pictures", "contact_links",
	"commissions", "commission_terms", "commission_offers", "commission_reviews",
	"saved_replies", "gone_works", "site_settings",
}

// leftOut are all other tables of the site, each with the reason why an archive does not have its rows. Tables of one subject share one
// reason. The reasons are also written into the archive (Manifest.LeftOut). Names with a slash, such as tables/files.json, are entries of
// the archive. An export fails if a table is in neither list.
var leftOut = map[string]string{
	"storage_objects":          "the files are in tables/files.json and files/",
	"storage_buckets":          "tables/buckets.json has what the owner has set",
	"media":                    "made again from the files; tables/files.json has the focus points",
	"media_renditions":         "made again from the files",
	"row_history":              "the archive has the site as it is, not what was changed or deleted",
	"storage_kept":             "the archive has the site as it is, not what was changed or deleted",
	"storage_trash":            "uploads that are not finished, and files without a row",
	"storage_uploads":          "uploads that are not finished, and files without a row",
	"storage_used_tokens":      "uploads that are not finished, and files without a row",
	"storage_quota_lock":       "its only row is a lock and has no data",
	"contact_notices":          "the sending of mails about messages, which an import does not repeat",
	"contact_digests":          "the sending of mails about messages, which an import does not repeat",
	"contact_thanked":          "the sending of mails about messages, which an import does not repeat",
	"jobs":                     "state of the running server",
	"realtime_outbox":          "state of the running server",
	"realtime_presence":        "state of the running server",
	"rate_limits":              "state of the running server",
	"storage_marker":           "bound to the server's files and secret",
	"secret_fingerprints":      "bound to the server's files and secret",
	"access_keys":              "secret keys, which must not leave the server",
	"certificates":             "secret keys, which must not leave the server",
	"certificate_locks":        "secret keys, which must not leave the server",
	"auth_signing_keys":        "secret keys, which must not leave the server",
	"auth_hash_keys":           "secret keys, which must not leave the server",
	"auth_sso_keys":            "secret keys, which must not leave the server",
	"calendar_feeds":           "secret URLs, which belong to accounts",
	"auth_users":               "accounts and their passwords; site.json has the owners' addresses",
	"auth_identities":          "accounts and their passwords; site.json has the owners' addresses",
	"user_roles":               "accounts and their passwords; site.json has the owners' addresses",
	"auth_sessions":            "sessions and second factors",
	"auth_refresh_tokens":      "sessions and second factors",
	"auth_factors":             "sessions and second factors",
	"auth_factor_challenges":   "sessions and second factors",
	"auth_factor_tries":        "sessions and second factors",
	"auth_recovery_codes":      "sessions and second factors",
	"auth_known_devices":       "sessions and second factors",
	"auth_issuers":             "sessions and second factors",
	"auth_flow_states":         "sign-ins that are not finished",
	"auth_last_sent":           "sign-ins that are not finished",
	"auth_one_time_tokens":     "sign-ins that are not finished",
	"auth_setup_links":         "sign-ins that are not finished",
	"auth_sso_relay_states":    "sign-ins that are not finished",
	"auth_sso_used_assertions": "sign-ins that are not finished",
	"auth_sso_domains":         "single sign-on, which has to be set up for the new address",
	"auth_sso_providers":       "single sign-on, which has to be set up for the new address",
	"auth_audit_log":           "the log of what accounts did",
	"activity":                 "the log of what accounts did",
	"backup_blobs":             "the state of the source's backup",
	"backup_status":            "the state of the source's backup",
	"health_records":           "the state of the source's mails",
	"response_time":            "measured again from the messages",
}

// checkTables returns an error unless every table of the site is in one of the two lists.
func checkTables() error {
	names, err := db.TableNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := leftOut[name]; !ok && !slices.Contains(exported, name) {
			return fmt.Errorf("table %s: whether an archive has its rows is not decided", name)
		}
	}
	return nil
}
