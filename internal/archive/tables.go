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

// leftOut has all other tables of the site, each with the reason why an archive does not have its rows. It is also written into the archive
// (Manifest.LeftOut). An export fails if a table is in neither list.
var leftOut = func() map[string]string {
	reasons := map[string]string{}
	for reason, tables := range leftOutByReason {
		for _, table := range tables {
			reasons[table] = reason
		}
	}
	return reasons
}()

// leftOutByReason has the tables of leftOut by the reason. Names with a slash, such as tables/files.json, are entries of the archive.
var leftOutByReason = map[string][]string{
	"the files are in tables/files.json and files/":                        {"storage_objects"},
	"tables/buckets.json has what the owner has set":                       {"storage_buckets"},
	"made again from the files; tables/files.json has the focus points":    {"media"},
	"made again from the files":                                            {"media_renditions"},
	"the archive has the site as it is, not what was changed or deleted":   {"row_history", "storage_kept"},
	"uploads that are not finished, and files without a row":               {"storage_trash", "storage_uploads", "storage_used_tokens"},
	"its only row is a lock and has no data":                               {"storage_quota_lock"},
	"the sending of mails about messages, which an import does not repeat": {"contact_notices", "contact_digests", "contact_thanked"},
	"state of the running server":                                          {"jobs", "realtime_outbox", "realtime_presence", "rate_limits"},
	"bound to the server's files and secret":                               {"storage_marker", "secret_fingerprints"},
	"secret keys, which must not leave the server": {
		"access_keys", "certificates", "certificate_locks", "auth_signing_keys", "auth_hash_keys", "auth_sso_keys",
	},
	"secret URLs, which belong to accounts":                             {"calendar_feeds"},
	"accounts and their passwords; site.json has the owners' addresses": {"auth_users", "auth_identities", "user_roles"},
	"sessions and second factors": {
		"auth_sessions", "auth_refresh_tokens", "auth_factors", "auth_factor_challenges", "auth_factor_tries", "auth_recovery_codes",
		"auth_known_devices", "auth_issuers",
	},
	"sign-ins that are not finished": {
		"auth_flow_states", "auth_last_sent", "auth_one_time_tokens", "auth_setup_links", "auth_sso_relay_states", "auth_sso_used_assertions",
	},
	"single sign-on, which has to be set up for the new address": {"auth_sso_domains", "auth_sso_providers"},
	"the log of what accounts did":                               {"auth_audit_log", "activity"},
	"the state of the source's backup":                           {"backup_blobs", "backup_status"},
	"the state of the source's mails":                            {"health_records"},
	"measured again from the messages":                           {"response_time"},
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
