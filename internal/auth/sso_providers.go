package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
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

// SSOProvider is an identity provider as the admin API shows it.
type SSOProvider struct {
	ID         string      `json:"id"`
	ResourceID *string     `json:"resource_id,omitempty"` // the owner's own name for it
	Disabled   bool        `json:"disabled"`
	SAML       SAMLDetails `json:"saml"`
	Domains    []SSODomain `json:"domains"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`

	refreshAt *time.Time // when metadata of an address should be read again
}

// SAMLDetails is what an identity provider's metadata and the owner say.
type SAMLDetails struct {
	EntityID         string       `json:"entity_id"`
	MetadataXML      string       `json:"metadata_xml,omitempty"` // left out of lists
	MetadataURL      string       `json:"metadata_url,omitempty"`
	AttributeMapping saml.Mapping `json:"attribute_mapping"`
	NameIDFormat     string       `json:"name_id_format,omitempty"`
}

// SSODomain is an e-mail domain whose people sign in at the provider.
type SSODomain struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
}

// provider is the name of the provider at identities, amr and app_metadata.
func (p SSOProvider) provider() string { return ssoPrefix + p.ID }

const ssoPrefix = "sso:"

// SSOProviderChange is what the admin API and the command say about a provider. Nil leaves a part as it is.
type SSOProviderChange struct {
	Type             string        `json:"type"`
	MetadataURL      string        `json:"metadata_url"`
	MetadataXML      string        `json:"metadata_xml"`
	Domains          []string      `json:"domains"`
	AttributeMapping *saml.Mapping `json:"attribute_mapping"`
	NameIDFormat     *string       `json:"name_id_format"`
	ResourceID       *string       `json:"resource_id"`
	Disabled         *bool         `json:"disabled"`
}

const (
	maxSSODomains  = 200
	maxMappedKeys  = 100
	maxMapping     = 64 << 10 // bytes, as JSON
	maxResourceID  = 255      // characters
	refreshRetry   = 5 * time.Minute
	resourcePrefix = "resource_" // in addresses, before the owner's own name
)

var domainPattern = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// validate also brings the domains into the one form in which they are stored and looked up.
func (c *SSOProviderChange) validate(creating bool) error {
	switch {
	case creating && c.Type != "saml":
		return errSSOType
	case c.MetadataURL != "" && c.MetadataXML != "":
		return errSSOTwoMetadata
	case creating && c.MetadataURL == "" && c.MetadataXML == "":
		return errSSONoMetadata
	case c.NameIDFormat != nil && !slices.Contains([]string{"", saml.NameIDPersistent, saml.NameIDEmail, saml.NameIDTransient, saml.NameIDUnspecified}, *c.NameIDFormat):
		return errSSONameIDFormat.Becausef("%q", *c.NameIDFormat)
	case c.ResourceID != nil && (utf8.RuneCountInString(*c.ResourceID) > maxResourceID || !storable(*c.ResourceID)):
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

// checkMapping bounds what is kept; PostgreSQL's JSON takes no U+0000.
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

func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func normalizeDomain(domain string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(domain)), ".")
}

// checkMetadataURL allows https, and http on this machine.
func checkMetadataURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !storable(address) {
		return errSSOMetadataURL
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return errSSOMetadataNotHTTPS
	}
	return nil
}

// metadata reads what the change brings: the text, what it says, and when it should be read again (nil: never).
func (c *SSOProviderChange) metadata(ctx context.Context, now time.Time) (text string, idp *saml.IdentityProvider, refreshAt *time.Time, err error) {
	raw := []byte(c.MetadataXML)
	if c.MetadataURL != "" {
		if raw, err = saml.Fetch(ctx, c.MetadataURL); err != nil {
			return "", nil, nil, errSAMLMetadataFetch.Because(err)
		}
	}
	if idp, err = saml.ParseIdentityProvider(raw); err != nil {
		return "", nil, nil, errSAMLMetadata.Because(err)
	}
	if c.MetadataURL != "" {
		at := idp.RefreshAt(now)
		refreshAt = &at
	}
	return string(raw), idp, refreshAt, nil
}

// AddSSOProvider makes an identity provider known. Errors: validation_failed, saml_metadata_fetch_failed,
// saml_idp_already_exists, sso_domain_already_exists.
func (s *Service) AddSSOProvider(ctx context.Context, c SSOProviderChange) (SSOProvider, error) {
	if err := c.validate(true); err != nil {
		return SSOProvider{}, err
	}
	now := s.now()
	text, idp, refreshAt, err := c.metadata(ctx, now) // before the transaction: it may take a while
	if err != nil {
		return SSOProvider{}, err
	}
	p := SSOProvider{
		ID: uuid.NewString(), CreatedAt: now, UpdatedAt: now, refreshAt: refreshAt,
		SAML: SAMLDetails{EntityID: idp.EntityID, MetadataXML: text, MetadataURL: c.MetadataURL},
	}
	c.apply(&p)
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := saveSSOProvider(ctx, tx, p); err != nil {
			return err
		}
		if err := replaceSSODomains(ctx, tx, p.ID, nil, c.Domains, now); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, client{}, auditSSOProvider, "", map[string]any{"change": "added", "provider": p.provider(), "entity_id": idp.EntityID}); err != nil {
			return err
		}
		p, err = ssoProviderByID(ctx, tx, p.ID)
		return err
	})
	return p, err
}

// apply writes the parts that need no look at the database.
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

// updateSSOProvider changes a provider; one that is switched off loses its people's sessions.
func (s *Service) updateSSOProvider(ctx context.Context, id string, c SSOProviderChange) (p SSOProvider, err error) {
	if err := c.validate(false); err != nil {
		return SSOProvider{}, err
	}
	now := s.now()
	var (
		text      string
		idp       *saml.IdentityProvider
		refreshAt *time.Time
	)
	if c.MetadataURL != "" || c.MetadataXML != "" {
		if text, idp, refreshAt, err = c.metadata(ctx, now); err != nil {
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
			p.SAML.MetadataURL = c.MetadataURL // pasted metadata is not replaced behind the owner's back
		}
		wasDisabled := p.Disabled
		c.apply(&p)
		p.UpdatedAt = now
		if err := saveSSOProvider(ctx, tx, p); err != nil {
			return err
		}
		if c.Domains != nil {
			if err := replaceSSODomains(ctx, tx, p.ID, p.Domains, c.Domains, now); err != nil {
				return err
			}
		}
		if p.Disabled && !wasDisabled {
			if err := deleteSSOSessions(ctx, tx, p.provider()); err != nil {
				return err
			}
		}
		if err := s.audit(ctx, tx, client{}, auditSSOProvider, "", map[string]any{"change": "changed", "provider": p.provider(), "disabled": p.Disabled}); err != nil {
			return err
		}
		p, err = ssoProviderByID(ctx, tx, p.ID)
		return err
	})
	return p, err
}

// RemoveSSOProvider forgets an identity provider and ends the sessions of its people; their accounts stay. id may also
// be resource_ and the owner's own name. Error: sso_provider_not_found.
func (s *Service) RemoveSSOProvider(ctx context.Context, id string) (p SSOProvider, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if p, err = s.ssoProvider(ctx, tx, id); err != nil {
			return err
		}
		if err := deleteSSOSessions(ctx, tx, p.provider()); err != nil {
			return err
		}
		if err := deleteSSOProvider(ctx, tx, p.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, client{}, auditSSOProvider, "", map[string]any{"change": "removed", "provider": p.provider(), "entity_id": p.SAML.EntityID})
	})
	return p, err
}

// SSOProviders lists the identity providers, the oldest first, without their metadata.
func (s *Service) SSOProviders(ctx context.Context, resourceID, prefix string) ([]SSOProvider, error) {
	list, err := allSSOProviders(ctx, s.db, resourceID, prefix)
	for i := range list {
		list[i].SAML.MetadataXML = ""
	}
	return list, err
}

// SSOProviderByID gives one identity provider. id may also be resource_ and the owner's own name. Error:
// sso_provider_not_found.
func (s *Service) SSOProviderByID(ctx context.Context, id string) (SSOProvider, error) {
	return s.ssoProvider(ctx, s.db, id)
}

func (s *Service) ssoProvider(ctx context.Context, q db.Querier, id string) (SSOProvider, error) {
	var (
		p   SSOProvider
		err error
	)
	if name, ok := strings.CutPrefix(id, resourcePrefix); ok && storable(name) {
		p, err = ssoProviderByResource(ctx, q, name)
	} else if canonical, ok := canonicalUUID(id); ok {
		p, err = ssoProviderByID(ctx, q, canonical)
	} else {
		err = db.ErrNoRows
	}
	if errors.Is(err, db.ErrNoRows) {
		return SSOProvider{}, errSSOProviderNotFound.Becausef("provider %q", id)
	}
	return p, err
}

// identityProvider gives what the stored metadata says, after reading it anew when that is due. An address that does
// not answer, or answers with somebody else's metadata, changes nothing: what is stored goes on to count.
func (s *Service) identityProvider(ctx context.Context, p SSOProvider) (*saml.IdentityProvider, error) {
	stored, err := saml.ParseIdentityProvider([]byte(p.SAML.MetadataXML))
	if err != nil {
		return nil, err
	}
	now := s.now()
	if p.SAML.MetadataURL == "" || p.refreshAt == nil || now.Before(*p.refreshAt) {
		return stored, nil
	}
	mine, err := claimSSORefresh(ctx, s.db, p.ID, now, now.Add(refreshRetry)) // one request asks, the others do not wait
	if err != nil || !mine {
		return stored, err
	}
	change := SSOProviderChange{MetadataURL: p.SAML.MetadataURL}
	text, fresh, refreshAt, err := change.metadata(ctx, now)
	if err != nil || fresh.EntityID != p.SAML.EntityID {
		return stored, nil //nolint:nilerr // what is stored serves on; the next try is after refreshRetry
	}
	return fresh, setSSOMetadata(ctx, s.db, p, text, *refreshAt, now)
}
