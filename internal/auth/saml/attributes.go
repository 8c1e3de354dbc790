package saml

import "strings"

// This file reads the id, the e-mail address and the claims (facts) of a user from an assertion (the identity provider's statement about
// the user). Identity providers use different names for the same attribute. Add a further name of the e-mail address to emailAttributes.

// subjectIDAttribute is the name of the attribute with a permanent id of the user (SAML subject-id attributes §3.3).
const subjectIDAttribute = "urn:oasis:names:tc:SAML:attribute:subject-id"

// emailAttributes are the names of attributes in which providers send the e-mail address, the most specific first.
var emailAttributes = []string{
	"urn:oid:0.9.2342.19200300.100.1.3", // the OID of LDAP's mail attribute
	"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
	"http://schemas.xmlsoap.org/claims/EmailAddress",
	"mail",
	"email",
}

// Values returns the non-empty values of the attributes whose Name or FriendlyName is name. Case is ignored.
func (a *Assertion) Values(name string) []string {
	var values []string
	for _, attribute := range a.Attributes {
		if !strings.EqualFold(attribute.Name, name) && !strings.EqualFold(attribute.FriendlyName, name) {
			continue
		}
		for _, v := range attribute.Values {
			if v != "" {
				values = append(values, v)
			}
		}
	}
	return values
}

// UserID returns the provider's permanent id for the user: the subject-id attribute, or else the NameID (the provider's name or id of the
// user). A NameID that is an e-mail address is returned in lower case. UserID returns "" if the assertion has neither, or if the NameID
// is transient: a transient NameID changes with every sign-in.
func (a *Assertion) UserID() string {
	if ids := a.Values(subjectIDAttribute); len(ids) > 0 {
		return ids[0]
	}
	switch a.NameIDFormat {
	case NameIDTransient:
		return ""
	case NameIDEmail:
		return strings.ToLower(a.NameID)
	}
	return a.NameID
}

// Email returns the user's e-mail address: from the first of emailAttributes that is present, or else from a NameID in the
// e-mail format. It returns "" if the assertion has no address.
func (a *Assertion) Email() string {
	for _, name := range emailAttributes {
		if values := a.Values(name); len(values) > 0 {
			return values[0]
		}
	}
	if a.NameIDFormat == NameIDEmail {
		return a.NameID
	}
	return ""
}

// Mapping maps attributes of an assertion to claims, in the JSON of the admin API. The keys are the names of the claims.
type Mapping struct {
	Keys map[string]MappedKey `json:"keys,omitempty"`
}

// MappedKey is the source of one claim: the first attribute of Name and Names that has a value, otherwise Default.
type MappedKey struct {
	Name    string   `json:"name,omitempty"`
	Names   []string `json:"names,omitempty"`
	Default any      `json:"default,omitempty"`
	Array   bool     `json:"array,omitempty"` // true: the claim is the list of all values; false: it is the first value
}

// Apply returns the claims that the mapping makes of the attributes of an assertion.
func (m Mapping) Apply(a *Assertion) map[string]any {
	claims := map[string]any{}
	for key, from := range m.Keys {
		names := from.Names
		if from.Name != "" {
			names = append([]string{from.Name}, names...)
		}
		if from.Default != nil {
			claims[key] = from.Default
		}
		for _, name := range names {
			values := a.Values(name)
			if len(values) == 0 {
				continue
			}
			claims[key] = values[0]
			if from.Array {
				claims[key] = values
			}
			break
		}
	}
	return claims
}
