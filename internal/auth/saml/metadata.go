package saml

import (
	"encoding/base64"
	"encoding/xml"
	"time"

	"github.com/crewjam/saml"
)

// metadataLife is how long an identity provider may keep our metadata before it asks again.
const metadataLife = 48 * time.Hour

// MetadataXML describes us to identity providers (SAML metadata §2.4.4), valid until the given time.
func (sp *ServiceProvider) MetadataXML(validUntil time.Time) ([]byte, error) {
	certificate := base64.StdEncoding.EncodeToString(sp.Certificate.Raw)
	keyInfo := saml.KeyInfo{X509Data: saml.X509Data{X509Certificates: []saml.X509Certificate{{Data: certificate}}}}
	yes := true
	validUntil = validUntil.UTC()
	var encryption []saml.EncryptionMethod
	for _, algorithm := range []string{aes256GCM, aes192GCM, aes128GCM, aes256CBC, aes192CBC, aes128CBC, rsaOAEP} {
		encryption = append(encryption, saml.EncryptionMethod{Algorithm: algorithm})
	}
	out, err := xml.Marshal(saml.EntityDescriptor{
		EntityID: sp.MetadataURL, ValidUntil: validUntil,
		SPSSODescriptors: []saml.SPSSODescriptor{{
			SSODescriptor: saml.SSODescriptor{
				RoleDescriptor: saml.RoleDescriptor{
					ProtocolSupportEnumeration: nsProtocol,
					KeyDescriptors: []saml.KeyDescriptor{
						{Use: "signing", KeyInfo: keyInfo},
						{Use: "encryption", KeyInfo: keyInfo, EncryptionMethods: encryption},
					},
				},
				NameIDFormats: []saml.NameIDFormat{NameIDEmail, NameIDPersistent},
			},
			WantAssertionsSigned:      &yes,
			AssertionConsumerServices: []saml.IndexedEndpoint{{Binding: saml.HTTPPostBinding, Location: sp.ACSURL, Index: 1, IsDefault: &yes}},
		}},
	})
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), out...), nil
}

// MetadataExpiry gives the end of metadata that is read now; what is downloaded as a file lives longer.
func MetadataExpiry(now time.Time, download bool) time.Time {
	if download {
		return now.AddDate(5, 0, 0)
	}
	return now.Add(metadataLife)
}
