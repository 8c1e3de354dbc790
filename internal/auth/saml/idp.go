package saml

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/crewjam/saml"
)

// This file parses the metadata of identity providers. Metadata is XML in which a provider publishes its URLs and certificates.

// IdentityProvider is an identity provider as its metadata describes it.
type IdentityProvider struct {
	EntityID      string              // SAML's name of the provider
	SSOURL        string              // receives requests of the redirect binding
	Certificates  []*x509.Certificate // their keys sign the provider's responses
	ValidUntil    time.Time           // when the metadata expires; the zero time when the metadata does not state it
	CacheDuration time.Duration       // how long the metadata may be cached; 0 when the metadata does not state it
}

// Limits of ParseIdentityProvider. It returns an error for metadata that exceeds them.
const (
	maxEntityID     = 1024 // bytes (SAML core §8.3.6)
	maxCertificates = 20
)

// ParseIdentityProvider parses the metadata of one identity provider (SAML metadata §2): an EntityDescriptor, or an
// EntitiesDescriptor with one identity provider. It does not check the signature of the metadata, because whoever has added the provider
// trusts the metadata: they have uploaded it, or chosen its URL.
func ParseIdentityProvider(raw []byte) (*IdentityProvider, error) {
	if len(raw) > MaxMetadata {
		return nil, documentError("the metadata has %d bytes, more than %d", len(raw), MaxMetadata)
	}
	if err := checkXML(raw, true); err != nil { // true: comments are allowed
		return nil, err
	}
	entity, err := soleEntity(raw)
	if err != nil {
		return nil, err
	}
	if entity.EntityID == "" || len(entity.EntityID) > maxEntityID {
		return nil, documentError("the metadata has no EntityID, or one that is longer than %d bytes", maxEntityID)
	}
	if n := len(entity.IDPSSODescriptors); n != 1 {
		return nil, documentError("the metadata has %d IDPSSODescriptor elements, not one", n)
	}
	descriptor := entity.IDPSSODescriptors[0]
	idp := &IdentityProvider{EntityID: entity.EntityID, ValidUntil: entity.ValidUntil, CacheDuration: entity.CacheDuration}
	for _, service := range descriptor.SingleSignOnServices {
		if service.Binding == saml.HTTPRedirectBinding && idp.SSOURL == "" {
			idp.SSOURL = service.Location
		}
	}
	if err := checkURL(idp.SSOURL); err != nil {
		return nil, documentError("the metadata has no usable SingleSignOnService for HTTP-Redirect: %w", err)
	}
	for _, key := range descriptor.KeyDescriptors {
		if key.Use != "" && key.Use != "signing" { // "" means any use
			continue
		}
		for _, data := range key.KeyInfo.X509Data.X509Certificates {
			der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data.Data), ""))
			if err != nil {
				return nil, documentError("a certificate in the metadata is not valid base64: %w", err)
			}
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				return nil, documentError("a certificate in the metadata cannot be read: %w", err)
			}
			idp.Certificates = append(idp.Certificates, certificate)
		}
	}
	if n := len(idp.Certificates); n == 0 || n > maxCertificates {
		return nil, documentError("the metadata has %d signing certificates", n)
	}
	return idp, nil
}

// soleEntity returns the one identity provider in metadata, or an error when there is none or more than one.
func soleEntity(raw []byte) (*saml.EntityDescriptor, error) {
	var root struct{ XMLName xml.Name }
	if err := xml.Unmarshal(raw, &root); err != nil {
		return nil, documentError("the metadata is not valid XML: %w", err)
	}
	switch root.XMLName.Local {
	case "EntityDescriptor":
		var entity saml.EntityDescriptor
		if err := xml.Unmarshal(raw, &entity); err != nil {
			return nil, documentError("the metadata cannot be read: %w", err)
		}
		return &entity, nil
	case "EntitiesDescriptor":
		var entities saml.EntitiesDescriptor
		if err := xml.Unmarshal(raw, &entities); err != nil {
			return nil, documentError("the metadata cannot be read: %w", err)
		}
		var found *saml.EntityDescriptor
		for i := range entities.EntityDescriptors {
			if len(entities.EntityDescriptors[i].IDPSSODescriptors) == 0 {
				continue
			}
			if found != nil {
				return nil, documentError("the metadata describes several identity providers")
			}
			found = &entities.EntityDescriptors[i]
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, documentError("the metadata describes no identity provider")
}

// Shortest and maximum time after which a provider's metadata is refreshed.
const (
	minRefresh = 5 * time.Minute
	MaxRefresh = 24 * time.Hour
)

// RefreshAt returns when metadata that was read at now should be read again.
func (p *IdentityProvider) RefreshAt(now time.Time) time.Time {
	wait := MaxRefresh
	if p.CacheDuration > 0 && p.CacheDuration < wait {
		wait = p.CacheDuration
	}
	if !p.ValidUntil.IsZero() && p.ValidUntil.Sub(now) < wait {
		wait = p.ValidUntil.Sub(now)
	}
	return now.Add(max(wait, minRefresh))
}

// checkURL returns an error unless the URL is https, or http on this machine.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return err
	}
	if u.Host == "" || u.User != nil {
		return errors.New("not an absolute URL")
	}
	if u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname()) {
		return nil
	}
	return errors.New("the URL must begin with https://")
}

// IsLoopback reports whether host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
