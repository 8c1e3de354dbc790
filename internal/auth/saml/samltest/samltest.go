// Package samltest is a SAML identity provider for tests. It makes valid responses, and hostile ones that a service provider must
// reject.
package samltest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml/xmlenc"
	dsig "github.com/russellhaering/goxmldsig"
)

// IdP is an identity provider with one key.
type IdP struct {
	EntityID    string
	SSOURL      string            // receives requests of the redirect binding
	Key         crypto.Signer     // signs responses
	Certificate *x509.Certificate // contains the public half of Key
}

// New returns an identity provider with an RSA key, or with an ECDSA key if useECDSA is true.
func New(t testing.TB, entityID string, useECDSA bool) *IdP {
	t.Helper()
	var (
		key crypto.Signer
		err error
	)
	if useECDSA {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	} else {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &IdP{EntityID: entityID, SSOURL: "https://idp.example/sso", Key: key, Certificate: selfSigned(t, key)}
}

// selfSigned returns a certificate for the key, signed by the key itself.
func selfSigned(t testing.TB, key crypto.Signer) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// Metadata returns the provider's metadata in XML.
func (p *IdP) Metadata() string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!-- made by a test -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="%s">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
%s
    </ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example/post"/>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="%s"/>
  </md:IDPSSODescriptor>
</md:EntityDescriptor>`, escape(p.EntityID), base64.StdEncoding.EncodeToString(p.Certificate.Raw), escape(p.SSOURL))
}

// Target is the service provider that a response is made for, and the request that it answers.
type Target struct {
	ACS, Audience, RequestID string
	Certificate              *x509.Certificate // assertions are encrypted for its key
	Now                      time.Time
}

// Draft describes a response before it is signed. Tests change its fields before they call Encode.
type Draft struct {
	*IdP
	Target
	ResponseID, AssertionID string
	InResponseTo            string // InResponseTo of the response
	ConfirmedRequest        string // InResponseTo of the subject's confirmation
	Destination, Recipient  string
	IssueInstant            time.Time
	NotBefore, NotOnOrAfter time.Time
	NameID, NameIDFormat    string
	SessionIndex            string
	SessionEnd              time.Time // left out when it is the zero time
	Status                  string
	Attributes              []Attribute

	SignResponse, SignAssertion bool
	Method                      string                                   // algorithm of the signatures
	Encrypt                     xmlenc.BlockCipher                       // cipher of the assertion; nil: it is not encrypted
	BeforeSigning               func(response, assertion *etree.Element) // changes the elements before they are signed; may be nil
	AfterSigning                func(response, assertion *etree.Element) // changes them after signing, before encryption; may be nil
	Text                        func(xml string) string                  // changes the finished XML; may be nil
}

// Attribute is one attribute of the user.
type Attribute struct {
	Name   string
	Values []string
}

// Draft returns a valid response to the target, whose assertion Encode signs.
func (p *IdP) Draft(t Target) *Draft {
	method := dsig.RSASHA256SignatureMethod
	if _, ok := p.Key.(*ecdsa.PrivateKey); ok {
		method = dsig.ECDSASHA256SignatureMethod
	}
	return &Draft{
		IdP: p, Target: t, ResponseID: "r-" + rand.Text(), AssertionID: "a-" + rand.Text(),
		InResponseTo: t.RequestID, ConfirmedRequest: t.RequestID, Destination: t.ACS, Recipient: t.ACS,
		IssueInstant: t.Now, NotBefore: t.Now.Add(-30 * time.Second), NotOnOrAfter: t.Now.Add(5 * time.Minute),
		NameID: "user-1", NameIDFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent", SessionIndex: "s-1",
		Status:     "urn:oasis:names:tc:SAML:2.0:status:Success",
		Attributes: []Attribute{{Name: "email", Values: []string{"ana@corp.example"}}, {Name: "groups", Values: []string{"a", "b"}}},
		Method:     method, SignAssertion: true,
	}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, escape(value))
}

// AssertionXML returns the assertion without a signature.
func (d *Draft) AssertionXML() string {
	var attributes strings.Builder
	for _, a := range d.Attributes {
		fmt.Fprintf(&attributes, `<saml:Attribute Name="%s">`, escape(a.Name))
		for _, v := range a.Values {
			fmt.Fprintf(&attributes, `<saml:AttributeValue>%s</saml:AttributeValue>`, escape(v))
		}
		attributes.WriteString(`</saml:Attribute>`)
	}
	session := attribute("SessionIndex", d.SessionIndex)
	if !d.SessionEnd.IsZero() {
		session += attribute("SessionNotOnOrAfter", stamp(d.SessionEnd))
	}
	return fmt.Sprintf(`<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="%s" Version="2.0" IssueInstant="%s">`+
		`<saml:Issuer>%s</saml:Issuer>`+
		`<saml:Subject><saml:NameID Format="%s">%s</saml:NameID>`+
		`<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData%s NotOnOrAfter="%s"%s/></saml:SubjectConfirmation></saml:Subject>`+
		`<saml:Conditions NotBefore="%s" NotOnOrAfter="%s"><saml:AudienceRestriction><saml:Audience>%s</saml:Audience></saml:AudienceRestriction></saml:Conditions>`+
		`<saml:AuthnStatement AuthnInstant="%s"%s><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`+
		`<saml:AttributeStatement>%s</saml:AttributeStatement></saml:Assertion>`,
		d.AssertionID, stamp(d.IssueInstant), escape(d.EntityID), escape(d.NameIDFormat), escape(d.NameID),
		attribute("Recipient", d.Recipient), stamp(d.NotOnOrAfter), attribute("InResponseTo", d.ConfirmedRequest),
		stamp(d.NotBefore), stamp(d.NotOnOrAfter), escape(d.Audience), stamp(d.IssueInstant), session, attributes.String())
}

// Encode signs and encrypts the response as the fields say, and returns it in base64, as the form of the POST binding contains
// it.
func (d *Draft) Encode(t testing.TB) string {
	t.Helper()
	response := element(t, fmt.Sprintf(`<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="%s" Version="2.0" IssueInstant="%s"%s%s>`+
		`<saml:Issuer>%s</saml:Issuer><samlp:Status><samlp:StatusCode Value="%s"/></samlp:Status></samlp:Response>`,
		d.ResponseID, stamp(d.IssueInstant), attribute("Destination", d.Destination), attribute("InResponseTo", d.InResponseTo), escape(d.EntityID), escape(d.Status)))
	assertion := element(t, d.AssertionXML())
	if d.BeforeSigning != nil {
		d.BeforeSigning(response, assertion)
	}
	if d.SignAssertion {
		assertion = d.Sign(t, assertion)
	}
	response.AddChild(assertion)
	if d.SignResponse && d.Encrypt == nil {
		response = d.Sign(t, response)
		assertion = response.SelectElement("Assertion")
	}
	if d.AfterSigning != nil {
		d.AfterSigning(response, assertion)
	}
	if d.Encrypt != nil {
		response.RemoveChild(assertion)
		response.AddChild(d.encrypt(t, assertion))
		if d.SignResponse {
			response = d.Sign(t, response)
		}
	}
	out := write(t, response)
	if d.Text != nil {
		out = d.Text(out)
	}
	return base64.StdEncoding.EncodeToString([]byte(out))
}

// sign returns a copy of el with an enveloped signature after its issuer, where the schema requires it.
func (p *IdP) sign(t testing.TB, el *etree.Element, method string) *etree.Element {
	t.Helper()
	context, err := dsig.NewSigningContext(p.Key, [][]byte{p.Certificate.Raw})
	if err != nil {
		t.Fatal(err)
	}
	context.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	if err := context.SetSignatureMethod(method); err != nil {
		t.Fatal(err)
	}
	out := el.Copy() // SignEnveloped removes comments from its argument
	signed, err := context.SignEnveloped(el)
	if err != nil {
		t.Fatal(err)
	}
	signature, ok := signed.Child[len(signed.Child)-1].(*etree.Element)
	if !ok {
		t.Fatal("there is no signature")
	}
	out.InsertChildAt(1, signature.Copy())
	return element(t, write(t, out))
}

// Sign returns a copy of el that is signed with the draft's key and method.
func (d *Draft) Sign(t testing.TB, el *etree.Element) *etree.Element {
	t.Helper()
	return d.sign(t, el, d.Method)
}

func (d *Draft) encrypt(t testing.TB, assertion *etree.Element) *etree.Element {
	t.Helper()
	encryptor := xmlenc.OAEP()
	encryptor.BlockCipher = d.Encrypt
	encryptor.DigestMethod = &xmlenc.SHA1
	data, err := encryptor.Encrypt(d.Target.Certificate, []byte(write(t, assertion)), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := etree.NewElement("saml:EncryptedAssertion")
	out.CreateAttr("xmlns:saml", "urn:oasis:names:tc:SAML:2.0:assertion")
	out.AddChild(data)
	return out
}

func element(t testing.TB, text string) *etree.Element {
	t.Helper()
	doc := etree.NewDocument()
	if err := doc.ReadFromString(text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return doc.Root()
}

func write(t testing.TB, el *etree.Element) string {
	t.Helper()
	doc := etree.NewDocument()
	doc.SetRoot(el.Copy())
	text, err := doc.WriteToString()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
