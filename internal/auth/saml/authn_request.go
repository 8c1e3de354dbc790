package saml

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

// AuthnRequest begins a sign-in at idp. It creates a signed authentication request and puts it into redirectURL (the redirect binding, SAML
// bindings §3.4). The caller redirects the browser to this URL. id is the request's id, which the provider must repeat in its response.
// relayState is a text that the provider sends back beside the response. nameIDFormat is a NameID constant; "" requests a persistent
// NameID.
func (sp *ServiceProvider) AuthnRequest(idp *IdentityProvider, relayState, nameIDFormat string, now time.Time) (id, redirectURL string, err error) {
	random := make([]byte, 20) // SAML core §1.3.4 recommends 160 bits
	_, _ = rand.Read(random)   // never fails (crypto/rand)
	id = "id-" + hex.EncodeToString(random)
	// The provider may create a new NameID for the user. NameIDUnspecified requests no format, so that the provider chooses one.
	policy := &saml.NameIDPolicy{AllowCreate: new(true)}
	if nameIDFormat != NameIDUnspecified {
		policy.Format = new(cmp.Or(nameIDFormat, NameIDPersistent))
	}
	request := saml.AuthnRequest{
		ID: id, Version: "2.0", IssueInstant: now.UTC(), Destination: idp.SSOURL,
		Issuer:          &saml.Issuer{Value: sp.MetadataURL},
		NameIDPolicy:    policy,
		ProtocolBinding: saml.HTTPPostBinding, AssertionConsumerServiceURL: sp.ACSURL,
	}
	query, err := sp.signedQuery(request.Element(), relayState)
	if err != nil {
		return "", "", err
	}
	target, err := url.Parse(idp.SSOURL)
	if err != nil {
		return "", "", err
	}
	if target.RawQuery != "" { // parameters of the provider's own URL; the signature does not cover them
		query = target.RawQuery + "&" + query
	}
	target.RawQuery = query
	return id, target.String(), nil
}

// signedQuery returns the URL parameters of a request: the compressed request, relayState and their signature, in the order that
// SAML bindings §3.4.4.1 requires.
func (sp *ServiceProvider) signedQuery(request *etree.Element, relayState string) (string, error) {
	doc := etree.NewDocument()
	doc.SetRoot(request)
	plain, err := doc.WriteToBytes()
	if err != nil {
		return "", err
	}
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(plain); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	query := "SAMLRequest=" + url.QueryEscape(base64.StdEncoding.EncodeToString(compressed.Bytes()))
	if relayState != "" {
		query += "&RelayState=" + url.QueryEscape(relayState)
	}
	query += "&SigAlg=" + url.QueryEscape(dsig.RSASHA256SignatureMethod)
	digest := sha256.Sum256([]byte(query))
	signature, err := rsa.SignPKCS1v15(nil, sp.Key, crypto.SHA256, digest[:])
	if err != nil {
		return "", err
	}
	return query + "&Signature=" + url.QueryEscape(base64.StdEncoding.EncodeToString(signature)), nil
}
