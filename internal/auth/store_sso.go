package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/auth/saml"
	"atelie/internal/db"
)

// This file reads and writes three things about single sign-on by SAML: the identity providers (servers at which users sign in), the
// pending and accepted sign-ins, and this service's own SAML key pair.

// SSOProvider is a SAML identity provider, in the form of the admin API.
type SSOProvider struct {
	ID         string      `json:"id"`
	ResourceID *string     `json:"resource_id,omitempty"` // an id of the operator's choice, in addition to ID; nil for none
	Disabled   bool        `json:"disabled"`              // nobody can sign in at the provider
	SAML       SAMLDetails `json:"saml"`
	Domains    []SSODomain `json:"domains"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`

	refreshAt *time.Time // when to fetch the metadata again; nil without MetadataURL
}

// SAMLDetails contains an identity provider's metadata and the operator's settings for the provider.
type SAMLDetails struct {
	EntityID         string       `json:"entity_id"`              // SAML's name of the provider
	MetadataXML      string       `json:"metadata_xml,omitempty"` // "" in lists of providers
	MetadataURL      string       `json:"metadata_url,omitempty"` // "" if the operator gave the metadata as text
	AttributeMapping saml.Mapping `json:"attribute_mapping"`
	NameIDFormat     string       `json:"name_id_format,omitempty"` // format of the requested NameID (id of a user); "": persistent
}

// SSODomain is an e-mail domain whose users sign in at the provider.
type SSODomain struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
}

// providerName returns the provider's name in identities and app_metadata: sso:<id>.
func (p SSOProvider) providerName() string { return ssoPrefix + p.ID }

const ssoPrefix = "sso:" // precedes the provider's id

// ssoProviderColumns are the columns that scanSSOProvider reads.
const ssoProviderColumns = `id, resource_id, disabled, entity_id, metadata_xml, coalesce(metadata_url, ''), metadata_refresh_at, attribute_mapping,
	coalesce(name_id_format, ''), created_at, updated_at`

func scanSSOProvider(row db.Row) (p SSOProvider, err error) {
	var mapping string
	err = row.Scan(&p.ID, &p.ResourceID, &p.Disabled, &p.SAML.EntityID, &p.SAML.MetadataXML, &p.SAML.MetadataURL, &p.refreshAt, &mapping,
		&p.SAML.NameIDFormat, &p.CreatedAt, &p.UpdatedAt)
	if err != nil {
		return SSOProvider{}, err
	}
	err = json.Unmarshal([]byte(mapping), &p.SAML.AttributeMapping)
	return p, err
}

// listSSOProviders returns identity providers with their domains, oldest first. where is an SQL clause with arguments args, or "".
func listSSOProviders(ctx context.Context, q db.Querier, where string, args ...any) (list []SSOProvider, err error) {
	list, err = db.Collect(ctx, q, scanSSOProvider, "select "+ssoProviderColumns+" from auth_sso_providers "+where+" order by created_at, id", args...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Domains, err = ssoDomains(ctx, q, list[i].ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ssoCondition is an SQL condition on auth_sso_providers that selects at most one provider. $1 is the argument of ssoProviderWhere.
type ssoCondition string

const (
	ssoByID       ssoCondition = "id = $1"
	ssoByResource ssoCondition = "resource_id = $1"
	ssoByEntity   ssoCondition = "entity_id = $1"
	ssoByDomain   ssoCondition = "id in (select provider_id from auth_sso_domains where domain = $1)"
)

// ssoProviderWhere returns the provider that a condition selects, or db.ErrNoRows.
func ssoProviderWhere(ctx context.Context, q db.Querier, condition ssoCondition, arg string) (SSOProvider, error) {
	list, err := listSSOProviders(ctx, q, "where "+string(condition), arg)
	if err != nil {
		return SSOProvider{}, err
	}
	if len(list) == 0 {
		return SSOProvider{}, db.ErrNoRows
	}
	return list[0], nil
}

// findSSOProviders returns the provider with a ResourceID, or else the providers whose ResourceID begins with prefix. It returns
// all when resourceID and prefix are "".
func findSSOProviders(ctx context.Context, q db.Querier, resourceID, prefix string) ([]SSOProvider, error) {
	switch {
	case resourceID != "":
		return listSSOProviders(ctx, q, "where resource_id = $1", resourceID)
	case prefix != "":
		return listSSOProviders(ctx, q, "where substr(resource_id, 1, $1) = $2", len([]rune(prefix)), prefix)
	}
	return listSSOProviders(ctx, q, "")
}

func ssoDomains(ctx context.Context, q db.Querier, providerID string) ([]SSODomain, error) {
	return db.Collect(ctx, q, func(row db.Row) (d SSODomain, err error) {
		err = row.Scan(&d.ID, &d.Domain)
		return d, err
	}, "select id, domain from auth_sso_domains where provider_id = $1 order by domain", providerID)
}

// saveSSOProvider inserts a provider, or updates an existing one, whose EntityID and CreatedAt stay. It does not change the
// domains. Errors: those of ssoConflict.
func saveSSOProvider(ctx context.Context, tx *db.Tx, p SSOProvider) error {
	mapping, err := json.Marshal(p.SAML.AttributeMapping)
	if err != nil {
		return err
	}
	return ssoConflict(db.Exec(ctx, tx, `insert into auth_sso_providers (id, resource_id, disabled, entity_id, metadata_xml, metadata_url, metadata_refresh_at,
			attribute_mapping, name_id_format, created_at, updated_at)
		values ($1, $2, $3, $4, $5, nullif($6, ''), $7, $8, nullif($9, ''), $10, $11)
		on conflict (id) do update set resource_id = excluded.resource_id, disabled = excluded.disabled, metadata_xml = excluded.metadata_xml,
			metadata_url = excluded.metadata_url, metadata_refresh_at = excluded.metadata_refresh_at, attribute_mapping = excluded.attribute_mapping,
			name_id_format = excluded.name_id_format, updated_at = excluded.updated_at`,
		p.ID, p.ResourceID, p.Disabled, p.SAML.EntityID, p.SAML.MetadataXML, p.SAML.MetadataURL, p.refreshAt, string(mapping), p.SAML.NameIDFormat,
		p.CreatedAt, p.UpdatedAt))
}

// ssoConflict returns the error for a name that is taken: errSAMLIdPExists, errSSODomainExists or errSSOConflict. Other errors
// stay unchanged.
func ssoConflict(err error) error {
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

// replaceSSODomains replaces the provider's domains had by want. Rows of domains that are in both lists keep their ids.
func replaceSSODomains(ctx context.Context, tx *db.Tx, providerID string, had []SSODomain, want []string, now time.Time) error {
	var err error
	for _, d := range had {
		if !slices.Contains(want, d.Domain) {
			err = errors.Join(err, db.Exec(ctx, tx, "delete from auth_sso_domains where id = $1", d.ID))
		}
	}
	for i, domain := range want {
		isStored := slices.ContainsFunc(had, func(d SSODomain) bool { return d.Domain == domain })
		if !isStored && !slices.Contains(want[:i], domain) {
			err = errors.Join(err, ssoConflict(db.Exec(ctx, tx, "insert into auth_sso_domains (id, provider_id, domain, created_at) values ($1, $2, $3, $4)",
				uuid.NewString(), providerID, domain, now)))
		}
	}
	return err
}

// claimSSORefresh reports whether the caller should refresh the metadata. If so, the next refresh is due at retryAt for all other
// callers.
func claimSSORefresh(ctx context.Context, q db.Querier, id string, now, retryAt time.Time) (bool, error) {
	return db.Changed(ctx, q, "update auth_sso_providers set metadata_refresh_at = $3 where id = $1 and (metadata_refresh_at <= $2 or metadata_refresh_at > $4)", id, now, retryAt, db.LatestPlausible(now, saml.MaxRefresh))
}

// setSSOMetadata stores refreshed metadata, unless the metadata's URL was changed in the meantime.
func setSSOMetadata(ctx context.Context, q db.Querier, p SSOProvider, xml string, refreshAt, now time.Time) error {
	return db.Exec(ctx, q, "update auth_sso_providers set metadata_xml = $2, metadata_refresh_at = $3, updated_at = $4 where id = $1 and metadata_url = $5",
		p.ID, xml, refreshAt, now, p.SAML.MetadataURL)
}

func deleteSSOProvider(ctx context.Context, tx *db.Tx, id string) error {
	return db.Exec(ctx, tx, "delete from auth_sso_providers where id = $1", id)
}

// samlRequest is a row of auth_sso_relay_states: an authentication request that waits for the SAML response.
type samlRequest struct {
	id         string // sent to the provider as RelayState, which the provider sends back with the response
	providerID string
	requestID  string // ID of the AuthnRequest; "" when the provider has started the sign-in
	flowID     string // the PKCE flow; "" for the implicit flow
	redirectTo string
	createdAt  time.Time
}

func insertSAMLRequest(ctx context.Context, tx *db.Tx, r samlRequest) error {
	return db.Exec(ctx, tx, "insert into auth_sso_relay_states (id, provider_id, request_id, flow_id, redirect_to, created_at) values ($1, $2, $3, $4, $5, $6)",
		r.id, r.providerID, r.requestID, orNull(r.flowID), r.redirectTo, r.createdAt)
}

// consumeSAMLRequestRow returns and deletes a request, so that only one response to it is accepted. db.ErrNoRows: the request
// is unknown or was consumed before.
func consumeSAMLRequestRow(ctx context.Context, tx *db.Tx, id string) (r samlRequest, err error) {
	err = tx.QueryRow(ctx, `delete from auth_sso_relay_states where id = $1
		returning id, provider_id, request_id, coalesce(cast(flow_id as text), ''), redirect_to, created_at`, id).
		Scan(&r.id, &r.providerID, &r.requestID, &r.flowID, &r.redirectTo, &r.createdAt)
	return r, err
}

// recordAssertion records that an assertion is used. It returns errSAMLAssertion, and records nothing, when it was used before.
func recordAssertion(ctx context.Context, tx *db.Tx, providerID, assertionID string, usableUntil time.Time) error {
	return changeOr(ctx, tx, errSAMLAssertion.Becausef("assertion %q was used before", assertionID), `insert into auth_sso_used_assertions (provider_id, assertion_id, usable_until) values ($1, $2, $3)
		on conflict (provider_id, assertion_id) do nothing`, providerID, assertionID, usableUntil)
}

// insertSSOKey stores a key pair unless one is stored, and returns the stored one, so that all nodes use the same.
func insertSSOKey(ctx context.Context, tx *db.Tx, sealed string, certificate []byte, now time.Time) (string, []byte, error) {
	_, err := tx.Exec(ctx, "insert into auth_sso_keys (id, sealed_key, certificate, created_at) values (1, $1, $2, $3) on conflict (id) do nothing",
		sealed, base64.StdEncoding.EncodeToString(certificate), now)
	if err != nil {
		return "", nil, err
	}
	return ssoKey(ctx, tx)
}

// ssoKey returns the sealed private key and the certificate, or db.ErrNoRows when none is stored.
func ssoKey(ctx context.Context, q db.Querier) (sealed string, certificate []byte, err error) {
	var encoded string
	if err := q.QueryRow(ctx, "select sealed_key, certificate from auth_sso_keys where id = 1").Scan(&sealed, &encoded); err != nil {
		return "", nil, err
	}
	certificate, err = base64.StdEncoding.DecodeString(encoded)
	return sealed, certificate, err
}

// deleteSSOKey deletes the key pair. The next use creates another one.
func deleteSSOKey(ctx context.Context, q db.Querier) error {
	return db.Exec(ctx, q, "delete from auth_sso_keys")
}
