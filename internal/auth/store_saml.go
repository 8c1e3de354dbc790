package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// keepSSOKey stores a key pair unless there is one, and gives the one that is stored: all nodes use the same.
func keepSSOKey(ctx context.Context, tx *db.Tx, sealed string, certificate []byte, now time.Time) (string, []byte, error) {
	_, err := tx.Exec(ctx, "insert into auth_sso_keys (id, sealed_key, certificate, created_at) values (1, $1, $2, $3) on conflict (id) do nothing",
		sealed, base64.StdEncoding.EncodeToString(certificate), now)
	if err != nil {
		return "", nil, err
	}
	return ssoKey(ctx, tx)
}

// ssoKey returns db.ErrNoRows before the first key was made.
func ssoKey(ctx context.Context, q db.Querier) (sealed string, certificate []byte, err error) {
	var encoded string
	if err := q.QueryRow(ctx, "select sealed_key, certificate from auth_sso_keys where id = 1").Scan(&sealed, &encoded); err != nil {
		return "", nil, err
	}
	certificate, err = base64.StdEncoding.DecodeString(encoded)
	return sealed, certificate, err
}

// deleteSSOKey makes room for another one; the next use of it makes it.
func deleteSSOKey(ctx context.Context, q db.Querier) error {
	_, err := q.Exec(ctx, "delete from auth_sso_keys")
	return err
}

const ssoProviderColumns = `id, resource_id, disabled, entity_id, metadata_xml, coalesce(metadata_url, ''), metadata_refresh_at, attribute_mapping,
	coalesce(name_id_format, ''), created_at, updated_at`

func scanSSOProvider(row db.Row) (p SSOProvider, err error) {
	var mapping string
	err = row.Scan(&p.ID, &p.ResourceID, &p.Disabled, &p.SAML.EntityID, &p.SAML.MetadataXML, &p.SAML.MetadataURL, &p.refreshAt, &mapping,
		&p.SAML.NameIDFormat, &p.CreatedAt, &p.UpdatedAt)
	if err != nil {
		return SSOProvider{}, err
	}
	return p, json.Unmarshal([]byte(mapping), &p.SAML.AttributeMapping)
}

// ssoProviders gives the identity providers with their domains. where is a condition on one argument.
func ssoProviders(ctx context.Context, q db.Querier, where string, args ...any) (list []SSOProvider, err error) {
	rows, err := q.Query(ctx, "select "+ssoProviderColumns+" from auth_sso_providers "+where+" order by created_at, id", args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []SSOProvider{}
	for rows.Next() {
		p, err := scanSSOProvider(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil { // a transaction has one cursor at a time
		return nil, err
	}
	for i := range list {
		if list[i].Domains, err = ssoDomains(ctx, q, list[i].ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func oneSSOProvider(ctx context.Context, q db.Querier, where string, arg any) (SSOProvider, error) {
	list, err := ssoProviders(ctx, q, where, arg)
	if err != nil {
		return SSOProvider{}, err
	}
	if len(list) == 0 {
		return SSOProvider{}, db.ErrNoRows
	}
	return list[0], nil
}

// ssoProviderByID returns db.ErrNoRows when there is none; so do the two below.
func ssoProviderByID(ctx context.Context, q db.Querier, id string) (SSOProvider, error) {
	return oneSSOProvider(ctx, q, "where id = $1", id)
}

func ssoProviderByResource(ctx context.Context, q db.Querier, resourceID string) (SSOProvider, error) {
	return oneSSOProvider(ctx, q, "where resource_id = $1", resourceID)
}

func ssoProviderByEntity(ctx context.Context, q db.Querier, entityID string) (SSOProvider, error) {
	return oneSSOProvider(ctx, q, "where entity_id = $1", entityID)
}

func ssoProviderByDomain(ctx context.Context, q db.Querier, domain string) (SSOProvider, error) {
	return oneSSOProvider(ctx, q, "where id in (select provider_id from auth_sso_domains where domain = $1)", domain)
}

// allSSOProviders filters by the owner's own name for them, whole or by its beginning; "" does not filter.
func allSSOProviders(ctx context.Context, q db.Querier, resourceID, resourcePrefix string) ([]SSOProvider, error) {
	switch {
	case resourceID != "":
		return ssoProviders(ctx, q, "where resource_id = $1", resourceID)
	case resourcePrefix != "":
		return ssoProviders(ctx, q, "where substr(resource_id, 1, $1) = $2", len([]rune(resourcePrefix)), resourcePrefix)
	}
	return ssoProviders(ctx, q, "")
}

func ssoDomains(ctx context.Context, q db.Querier, providerID string) (list []SSODomain, err error) {
	rows, err := q.Query(ctx, "select id, domain from auth_sso_domains where provider_id = $1 order by domain", providerID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []SSODomain{}
	for rows.Next() {
		var d SSODomain
		if err := rows.Scan(&d.ID, &d.Domain); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, rows.Err()
}

// saveSSOProvider writes a new provider or all of an existing one's columns; the domains are not touched. A name that
// is taken is a db.ConstraintError; ssoTaken says which.
func saveSSOProvider(ctx context.Context, tx *db.Tx, p SSOProvider) error {
	mapping, err := json.Marshal(p.SAML.AttributeMapping)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into auth_sso_providers (id, resource_id, disabled, entity_id, metadata_xml, metadata_url, metadata_refresh_at,
			attribute_mapping, name_id_format, created_at, updated_at)
		values ($1, $2, $3, $4, $5, nullif($6, ''), $7, $8, nullif($9, ''), $10, $11)
		on conflict (id) do update set resource_id = excluded.resource_id, disabled = excluded.disabled, metadata_xml = excluded.metadata_xml,
			metadata_url = excluded.metadata_url, metadata_refresh_at = excluded.metadata_refresh_at, attribute_mapping = excluded.attribute_mapping,
			name_id_format = excluded.name_id_format, updated_at = excluded.updated_at`,
		p.ID, p.ResourceID, p.Disabled, p.SAML.EntityID, p.SAML.MetadataXML, p.SAML.MetadataURL, p.refreshAt, string(mapping), p.SAML.NameIDFormat,
		p.CreatedAt, p.UpdatedAt)
	return ssoTaken(err)
}

func ssoTaken(err error) error {
	switch {
	case !db.IsConstraint(err, db.UniqueViolation):
		return err
	case strings.Contains(err.Error(), "entity_id"):
		return errSAMLIdPExists.Because(err)
	case strings.Contains(err.Error(), "domain"):
		return errSSODomainExists.Because(err)
	}
	return errSSOConflict.Because(err)
}

// replaceSSODomains leaves the domains that stay as they are.
func replaceSSODomains(ctx context.Context, tx *db.Tx, providerID string, had []SSODomain, want []string, now time.Time) error {
	missing := map[string]bool{}
	for _, domain := range want {
		missing[domain] = true
	}
	for _, d := range had {
		if missing[d.Domain] {
			delete(missing, d.Domain)
			continue
		}
		if _, err := tx.Exec(ctx, "delete from auth_sso_domains where id = $1", d.ID); err != nil {
			return err
		}
	}
	for _, domain := range want {
		if !missing[domain] {
			continue
		}
		delete(missing, domain)
		_, err := tx.Exec(ctx, "insert into auth_sso_domains (id, provider_id, domain, created_at) values ($1, $2, $3, $4)", uuid.NewString(), providerID, domain, now)
		if err := ssoTaken(err); err != nil {
			return err
		}
	}
	return nil
}

// claimSSORefresh tells whether the caller is the one to read metadata anew, and moves the next try on.
func claimSSORefresh(ctx context.Context, q db.Querier, id string, now, retryAt time.Time) (bool, error) {
	n, err := q.Exec(ctx, "update auth_sso_providers set metadata_refresh_at = $3 where id = $1 and metadata_refresh_at <= $2", id, now, retryAt)
	return n == 1, err
}

// setSSOMetadata keeps metadata that was read anew, unless the owner has named another address in the meantime.
func setSSOMetadata(ctx context.Context, q db.Querier, p SSOProvider, xml string, refreshAt, now time.Time) error {
	_, err := q.Exec(ctx, "update auth_sso_providers set metadata_xml = $2, metadata_refresh_at = $3, updated_at = $4 where id = $1 and metadata_url = $5",
		p.ID, xml, refreshAt, now, p.SAML.MetadataURL)
	return err
}

func deleteSSOProvider(ctx context.Context, tx *db.Tx, id string) error {
	_, err := tx.Exec(ctx, "delete from auth_sso_providers where id = $1", id)
	return err
}

// deleteSSOSessions ends what the people of an identity provider have open.
func deleteSSOSessions(ctx context.Context, tx *db.Tx, provider string) error {
	_, err := tx.Exec(ctx, "delete from auth_sessions where user_id in (select user_id from auth_identities where provider = $1)", provider)
	return err
}

// relayState is a request that waits for its answer.
type relayState struct {
	id, providerID, requestID, flowID, redirectTo string
	createdAt                                     time.Time
}

func insertRelayState(ctx context.Context, tx *db.Tx, r relayState) error {
	_, err := tx.Exec(ctx, "insert into auth_sso_relay_states (id, provider_id, request_id, flow_id, redirect_to, created_at) values ($1, $2, $3, $4, $5, $6)",
		r.id, r.providerID, r.requestID, orNull(r.flowID), r.redirectTo, r.createdAt)
	return err
}

// takeRelayState strikes a request out: it is answered once. db.ErrNoRows when it is not known, or used.
func takeRelayState(ctx context.Context, tx *db.Tx, id string) (r relayState, err error) {
	var flow *string
	err = tx.QueryRow(ctx, "delete from auth_sso_relay_states where id = $1 returning id, provider_id, request_id, flow_id, redirect_to, created_at", id).
		Scan(&r.id, &r.providerID, &r.requestID, &flow, &r.redirectTo, &r.createdAt)
	if flow != nil {
		r.flowID = *flow
	}
	return r, err
}

// useAssertion tells whether the assertion is seen for the first time, and remembers it.
func useAssertion(ctx context.Context, tx *db.Tx, providerID, assertionID string, usableUntil time.Time) (first bool, err error) {
	n, err := tx.Exec(ctx, `insert into auth_sso_used_assertions (provider_id, assertion_id, usable_until) values ($1, $2, $3)
		on conflict (provider_id, assertion_id) do nothing`, providerID, assertionID, usableUntil)
	return n == 1, err
}

// setFlowEnd notes until when the session may live that a code will open.
func setFlowEnd(ctx context.Context, tx *db.Tx, flowID string, end *time.Time) error {
	_, err := tx.Exec(ctx, "update auth_flow_states set session_not_after = $2 where id = $1", flowID, end)
	return err
}

// forgetSSO drops requests that nobody answered, and assertions that their age alone refuses.
func forgetSSO(ctx context.Context, q db.Querier, now time.Time) error {
	if _, err := q.Exec(ctx, "delete from auth_sso_relay_states where created_at <= $1", now.Add(-relayLife)); err != nil {
		return err
	}
	_, err := q.Exec(ctx, "delete from auth_sso_used_assertions where usable_until <= $1", now)
	return err
}
