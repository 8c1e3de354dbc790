package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"atelie/internal/auth/saml"
	"atelie/internal/db"
)

// This file validates, changes and finds SAML identity providers, and refreshes their metadata (the XML that describes a provider).

// SSOProviderChange describes a SAML identity provider to add, or the changes to an existing provider, for the admin API and the
// command line. A field that is nil or "" changes nothing.
type SSOProviderChange struct {
	Type             string        `json:"type"`              // "saml" for a new provider; ignored in changes
	MetadataURL      string        `json:"metadata_url"`      // URL of the metadata, which is fetched again from time to time
	MetadataXML      string        `json:"metadata_xml"`      // the metadata itself, instead of MetadataURL
	Domains          []string      `json:"domains"`           // e-mail domains whose users sign in at the provider; [] removes all domains
	AttributeMapping *saml.Mapping `json:"attribute_mapping"` // which attributes of an assertion become which claims
	NameIDFormat     *string       `json:"name_id_format"`    // format of the requested NameID (id of a user); points to "" for the default
	ResourceID       *string       `json:"resource_id"`       // an id that the operator has chosen; points to "" to remove the id
	Disabled         *bool         `json:"disabled"`          // true: nobody can sign in at the provider
}

const (
	maxSSODomains  = 200             // domains of one provider
	maxMappedKeys  = 100             // keys of an attribute mapping
	maxMapping     = 64 << 10        // bytes of an attribute mapping in JSON
	maxResourceID  = 255             // characters
	refreshRetry   = 5 * time.Minute // minimum time between two attempts to refresh metadata
	resourcePrefix = "resource_"     // precedes a ResourceID that is given in place of the provider's id
)

// domainPattern matches a domain name in lower case. Each label has at most 63 characters (RFC 1035 §2.3.4).
var domainPattern = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// validateAndNormalizeNew is validateAndNormalize for a provider to add, which needs a type and metadata.
func (c *SSOProviderChange) validateAndNormalizeNew() error {
	switch {
	case c.Type != "saml":
		return errSSOType
	case c.MetadataURL == "" && c.MetadataXML == "":
		return errSSONoMetadata
	}
	return c.validateAndNormalize()
}

// validateAndNormalize checks the fields, and converts the domains to the form in which they are stored.
func (c *SSOProviderChange) validateAndNormalize() error {
	nameIDFormats := []string{"", saml.NameIDPersistent, saml.NameIDEmail, saml.NameIDTransient, saml.NameIDUnspecified}
	switch {
	case c.MetadataURL != "" && c.MetadataXML != "":
		return errSSOTwoMetadata
	case c.NameIDFormat != nil && !slices.Contains(nameIDFormats, *c.NameIDFormat):
		return errSSONameIDFormat.Becausef("%q", *c.NameIDFormat)
	case c.ResourceID != nil && (utf8.RuneCountInString(*c.ResourceID) > maxResourceID || !isStorableText(*c.ResourceID)):
		return errSSOResourceID
	case len(c.Domains) > maxSSODomains:
		return errSSODomain.Becausef("%d domains", len(c.Domains))
	}
	if err := checkMapping(c.AttributeMapping); err != nil {
		return err
	}
	if c.MetadataURL != "" {
		if err := checkMetadataURL(c.MetadataURL); err != nil {
			return err
		}
	}
	for i, domain := range c.Domains {
		domain = normalizeDomain(domain)
		if !isDomain(domain) {
			return errSSODomain.Becausef("%q", domain)
		}
		c.Domains[i] = domain
	}
	return nil
}

func isDomain(domain string) bool { return len(domain) <= 253 && domainPattern.MatchString(domain) }

// checkMapping returns errSSOMapping for a mapping that is too large, or that contains a NUL, which PostgreSQL rejects.
func checkMapping(m *saml.Mapping) error {
	if m == nil {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return errSSOMapping.Because(err)
	}
	if len(m.Keys) > maxMappedKeys || len(text) > maxMapping || bytes.Contains(text, []byte(`\u0000`)) {
		return errSSOMapping.Becausef("%d keys, %d bytes", len(m.Keys), len(text))
	}
	return nil
}

func normalizeDomain(domain string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(domain)), ".")
}

// checkMetadataURL returns an error unless the URL is https, or http on this machine.
func checkMetadataURL(metadataURL string) error {
	u, err := url.Parse(metadataURL)
	if err != nil || u.Host == "" || !isStorableText(metadataURL) {
		return errSSOMetadataURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !saml.IsLoopback(u.Hostname())) {
		return errSSOMetadataNotHTTPS
	}
	return nil
}

// readMetadata returns the metadata of the change: its text, which it fetches from MetadataURL if set, the parsed identity
// provider, and when to fetch the metadata again. refreshAt is nil for MetadataXML, which is never refreshed.
func (c *SSOProviderChange) readMetadata(ctx context.Context, now time.Time) (text string, idp *saml.IdentityProvider, refreshAt *time.Time, err error) {
	raw := []byte(c.MetadataXML)
	if c.MetadataURL != "" {
		if raw, err = saml.FetchMetadata(ctx, c.MetadataURL); err != nil {
			return "", nil, nil, errSAMLMetadataFetch.Because(err)
		}
	}
	if idp, err = saml.ParseIdentityProvider(raw); err != nil {
		return "", nil, nil, errSAMLMetadata.Because(err)
	}
	if c.MetadataURL != "" {
		refreshAt = new(idp.RefreshAt(now))
	}
	return string(raw), idp, refreshAt, nil
}

// AddSSOProvider adds an identity provider. Errors: validation_failed, saml_metadata_fetch_failed, saml_idp_already_exists,
// sso_domain_already_exists, and conflict for a ResourceID that is taken.
func (s *Service) AddSSOProvider(ctx context.Context, c SSOProviderChange) (SSOProvider, error) {
	if err := c.validateAndNormalizeNew(); err != nil {
		return SSOProvider{}, err
	}
	now := s.now()
	text, idp, refreshAt, err := c.readMetadata(ctx, now) // before the transaction, because a fetch may be slow
	if err != nil {
		return SSOProvider{}, err
	}
	p := SSOProvider{
		ID: uuid.NewString(), CreatedAt: now, UpdatedAt: now, refreshAt: refreshAt,
		SAML: SAMLDetails{EntityID: idp.EntityID, MetadataXML: text, MetadataURL: c.MetadataURL},
	}
	c.apply(&p)
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		err := errors.Join(
			saveSSOProvider(ctx, tx, p),
			replaceSSODomains(ctx, tx, p.ID, nil, c.Domains, now),
			s.audit(ctx, tx, clientInfo{}, auditSSOProviderChanged, "", map[string]any{"change": "added", "provider": p.providerName(), "entity_id": idp.EntityID}),
		)
		if err != nil {
			return err
		}
		p, err = ssoProviderWhere(ctx, tx, ssoByID, p.ID)
		return err
	})
	return p, err
}

// apply sets the fields of p that the change names, except metadata and domains.
func (c *SSOProviderChange) apply(p *SSOProvider) {
	if c.AttributeMapping != nil {
		p.SAML.AttributeMapping = *c.AttributeMapping
	}
	if c.NameIDFormat != nil {
		p.SAML.NameIDFormat = *c.NameIDFormat
	}
	if c.Disabled != nil {
		p.Disabled = *c.Disabled
	}
	if c.ResourceID != nil {
		p.ResourceID = c.ResourceID
		if *c.ResourceID == "" {
			p.ResourceID = nil
		}
	}
}

// updateSSOProvider changes a provider. Disabling it ends the sessions of its users. New metadata must have the same EntityID.
func (s *Service) updateSSOProvider(ctx context.Context, id string, c SSOProviderChange) (p SSOProvider, err error) {
	if err := c.validateAndNormalize(); err != nil {
		return SSOProvider{}, err
	}
	now := s.now()
	var (
		text      string
		idp       *saml.IdentityProvider
		refreshAt *time.Time
	)
	if c.MetadataURL != "" || c.MetadataXML != "" {
		if text, idp, refreshAt, err = c.readMetadata(ctx, now); err != nil {
			return SSOProvider{}, err
		}
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if p, err = s.ssoProvider(ctx, tx, id); err != nil {
			return err
		}
		if idp != nil {
			if idp.EntityID != p.SAML.EntityID {
				return errSAMLEntityID.Becausef("%q, not %q", idp.EntityID, p.SAML.EntityID)
			}
			p.SAML.MetadataXML, p.refreshAt = text, refreshAt
			p.SAML.MetadataURL = c.MetadataURL // "" after MetadataXML: a refresh from the former URL must not replace it
		}
		wasDisabled := p.Disabled
		c.apply(&p)
		p.UpdatedAt = now
		err := saveSSOProvider(ctx, tx, p)
		if c.Domains != nil {
			err = errors.Join(err, replaceSSODomains(ctx, tx, p.ID, p.Domains, c.Domains, now))
		}
		if p.Disabled && !wasDisabled {
			err = errors.Join(err, deleteSSOSessions(ctx, tx, p.providerName()))
		}
		logged := s.audit(ctx, tx, clientInfo{}, auditSSOProviderChanged, "", map[string]any{"change": "changed", "provider": p.providerName(), "disabled": p.Disabled})
		if err := errors.Join(err, logged); err != nil {
			return err
		}
		p, err = ssoProviderWhere(ctx, tx, ssoByID, p.ID)
		return err
	})
	return p, err
}

// RemoveSSOProvider deletes an identity provider and ends the sessions of its users; their accounts stay. id is its id, or
// "resource_" and its ResourceID. Error: sso_provider_not_found.
func (s *Service) RemoveSSOProvider(ctx context.Context, id string) (p SSOProvider, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if p, err = s.ssoProvider(ctx, tx, id); err != nil {
			return err
		}
		return errors.Join(
			deleteSSOSessions(ctx, tx, p.providerName()),
			deleteSSOProvider(ctx, tx, p.ID),
			s.audit(ctx, tx, clientInfo{}, auditSSOProviderChanged, "", map[string]any{"change": "removed", "provider": p.providerName(), "entity_id": p.SAML.EntityID}),
		)
	})
	return p, err
}

// SSOProviders returns the identity providers, oldest first, without their metadata. resourceID selects one ResourceID, prefix
// those that begin with it; both "" select all.
func (s *Service) SSOProviders(ctx context.Context, resourceID, prefix string) ([]SSOProvider, error) {
	list, err := findSSOProviders(ctx, s.db, resourceID, prefix)
	for i := range list {
		list[i].SAML.MetadataXML = ""
	}
	return list, err
}

// SSOProviderByID returns one identity provider. id is its id, or "resource_" and its ResourceID. Error:
// sso_provider_not_found.
func (s *Service) SSOProviderByID(ctx context.Context, id string) (SSOProvider, error) {
	return s.ssoProvider(ctx, s.db, id)
}

func (s *Service) ssoProvider(ctx context.Context, q db.Querier, id string) (SSOProvider, error) {
	var (
		p   SSOProvider
		err error
	)
	if name, ok := strings.CutPrefix(id, resourcePrefix); ok && isStorableText(name) {
		p, err = ssoProviderWhere(ctx, q, ssoByResource, name)
	} else if canonical, ok := canonicalUUID(id); ok {
		p, err = ssoProviderWhere(ctx, q, ssoByID, canonical)
	} else {
		err = db.ErrNoRows
	}
	return p, db.NoRowsAs(err, errSSOProviderNotFound.Becausef("provider %q", id))
}

// identityProvider returns the parsed metadata of a provider. When a refresh is due, it first fetches the metadata from its
// URL. When the fetch fails or returns the metadata of another provider, it returns the stored metadata.
func (s *Service) identityProvider(ctx context.Context, p SSOProvider) (*saml.IdentityProvider, error) {
	stored, err := saml.ParseIdentityProvider([]byte(p.SAML.MetadataXML))
	if err != nil {
		return nil, err
	}
	now := s.now()
	if p.SAML.MetadataURL == "" || p.refreshAt == nil || now.Before(*p.refreshAt) && !p.refreshAt.After(db.LatestPlausible(now, saml.MaxRefresh)) {
		return stored, nil
	}
	claimed, err := claimSSORefresh(ctx, s.db, p.ID, now, now.Add(refreshRetry)) // one request refreshes; others use the stored metadata
	if err != nil || !claimed {
		return stored, err
	}
	change := SSOProviderChange{MetadataURL: p.SAML.MetadataURL}
	text, fresh, refreshAt, err := change.readMetadata(ctx, now)
	if err != nil || fresh.EntityID != p.SAML.EntityID {
		return stored, nil //nolint:nilerr // the stored metadata is still good; the next attempt is after refreshRetry
	}
	return fresh, setSSOMetadata(ctx, s.db, p, text, *refreshAt, now)
}
