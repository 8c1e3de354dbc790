package saml

import (
	"encoding/base64"
	"encoding/xml"
	"time"

	"github.com/crewjam/saml"
)

// How long the metadata of this service provider (the XML that describes it) is valid.
const (
	metadataLife  = 48 * time.Hour // if an identity provider reads the metadata from its URL
	downloadYears = 5              // if a user downloads the metadata as a file
)

// MetadataXML returns the metadata of this service provider (SAML metadata §2.4.4) for identity providers: its URLs, its certificate,
// and the algorithms with which they may encrypt assertions.
func (sp *ServiceProvider) MetadataXML(validUntil time.Time) ([]byte, error) {
	certificate := base64.StdEncoding.EncodeToString(sp.Certificate.Raw)
	keyInfo := saml.KeyInfo{X509Data: saml.X509Data{X509Certificates: []saml.X509Certificate{{Data: certificate}}}}
	var encryptionMethods []saml.EncryptionMethod
	for _, algorithm := range []string{aes256GCM, aes192GCM, aes128GCM, aes256CBC, aes192CBC, aes128CBC, rsaOAEP} {
		encryptionMethods = append(encryptionMethods, saml.EncryptionMethod{Algorithm: algorithm})
	}
	out, err := xml.Marshal(saml.EntityDescriptor{
		EntityID: sp.MetadataURL, ValidUntil: validUntil.UTC(),
		SPSSODescriptors: []saml.SPSSODescriptor{{
			SSODescriptor: saml.SSODescriptor{
				RoleDescriptor: saml.RoleDescriptor{
					ProtocolSupportEnumeration: nsProtocol,
					KeyDescriptors: []saml.KeyDescriptor{
						{Use: "signing", KeyInfo: keyInfo},
						{Use: "encryption", KeyInfo: keyInfo, EncryptionMethods: encryptionMethods},
					},
				},
				NameIDFormats: []saml.NameIDFormat{NameIDEmail, NameIDPersistent},
			},
			WantAssertionsSigned:      new(true),
			AssertionConsumerServices: []saml.IndexedEndpoint{{Binding: saml.HTTPPostBinding, Location: sp.ACSURL, Index: 1, IsDefault: new(true)}},
		}},
	})
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), out...), nil
}

// MetadataExpiry returns when metadata that is requested at now expires.
func MetadataExpiry(now time.Time, isDownload bool) time.Time {
	if isDownload {
		return now.AddDate(downloadYears, 0, 0)
	}
	return now.Add(metadataLife)
}
