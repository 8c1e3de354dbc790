package saml

import (
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml/xmlenc"

	"atelie/internal/auth/saml/samltest"
)

var testNow = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// ourKey is created once for all tests, because creating it is slow.
var ourKey = sync.OnceValues(func() (*ServiceProvider, error) {
	key, cert, err := NewKeyPair("site.example", testNow)
	if err != nil {
		return nil, err
	}
	private, certificate, err := ParseKeyPair(key, cert)
	if err != nil {
		return nil, err
	}
	return New("https://site.example/auth/v1/sso/saml/", private, certificate), nil
})

// newSP returns a service provider with a key.
func newSP(t testing.TB) *ServiceProvider {
	t.Helper()
	sp, err := ourKey()
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// parsed returns an identity provider as read from its metadata.
func parsed(t testing.TB, p *samltest.IdP) *IdentityProvider {
	t.Helper()
	idp, err := ParseIdentityProvider([]byte(p.Metadata()))
	if err != nil {
		t.Fatal(err)
	}
	return idp
}

// target returns the values that a response must have so that sp accepts it.
func target(sp *ServiceProvider) samltest.Target {
	return samltest.Target{ACS: sp.ACSURL, Audience: sp.MetadataURL, RequestID: "id-1", Certificate: sp.Certificate, Now: testNow}
}

func TestValidResponsesAreAccepted(t *testing.T) {
	sp := newSP(t)
	for _, elliptical := range []bool{false, true} {
		p := samltest.New(t, "https://idp.example/?a=1&b=2", elliptical)
		idp := parsed(t, p)
		for name, change := range map[string]func(*samltest.Draft){
			"assertion signed":            func(*samltest.Draft) {},
			"response signed":             func(d *samltest.Draft) { d.SignAssertion, d.SignResponse = false, true },
			"both signed":                 func(d *samltest.Draft) { d.SignResponse = true },
			"encrypted, assertion signed": func(d *samltest.Draft) { d.Encrypt = xmlenc.AES128CBC },
			"encrypted, response signed":  func(d *samltest.Draft) { d.Encrypt, d.SignAssertion, d.SignResponse = xmlenc.AES256CBC, false, true },
			"encrypted, both signed":      func(d *samltest.Draft) { d.Encrypt, d.SignResponse = xmlenc.AES192CBC, true },
			"clock ahead":                 func(d *samltest.Draft) { d.IssueInstant = testNow.Add(50 * time.Second); d.NotBefore = d.IssueInstant },
			"clock behind":                func(d *samltest.Draft) { d.NotOnOrAfter = testNow.Add(-50 * time.Second) },
			"no destination, not signed":  func(d *samltest.Draft) { d.Destination = "" },
			"XML declaration": func(d *samltest.Draft) {
				d.Text = func(x string) string { return `<?xml version="1.0" encoding="UTF-8"?>` + x }
			},
			"a second audience beside us":  func(d *samltest.Draft) { d.BeforeSigning = func(_, a *etree.Element) { addAudience(a) } },
			"a holder-of-key confirmation": func(d *samltest.Draft) { d.BeforeSigning = func(_, a *etree.Element) { addConfirmation(a) } },
			"used once": func(d *samltest.Draft) {
				d.BeforeSigning = func(_, a *etree.Element) { a.SelectElement("Conditions").CreateElement("saml:OneTimeUse") }
			},
		} {
			t.Run(name, func(t *testing.T) {
				d := p.Draft(target(sp))
				d.SessionEnd = testNow.Add(time.Hour)
				change(d)
				got, err := sp.VerifyResponse(d.Encode(t), idp, Expected{RequestID: "id-1", Now: testNow})
				if err != nil {
					t.Fatal(err)
				}
				if got.ID != d.AssertionID || got.Issuer != p.EntityID || got.NameID != "user-1" || got.NameIDFormat != NameIDPersistent ||
					got.SessionIndex != "s-1" || !got.NotOnOrAfter.Equal(testNow.Add(time.Hour)) || got.Email() != "ana@corp.example" || got.UserID() != "user-1" {
					t.Errorf("%+v", got)
				}
				if groups := got.Values("Groups"); len(groups) != 2 || groups[1] != "b" {
					t.Errorf("groups %q", groups)
				}
				if got.UsableUntil.Before(testNow) || got.UsableUntil.After(testNow.Add(maxAge+2*Skew)) {
					t.Errorf("usable until %s", got.UsableUntil)
				}
			})
		}
	}
}

func addAudience(assertion *etree.Element) {
	assertion.FindElement(".//AudienceRestriction").CreateElement("saml:Audience").SetText("https://other.example")
}

func addConfirmation(assertion *etree.Element) {
	assertion.FindElement(".//Subject").CreateElement("saml:SubjectConfirmation").CreateAttr("Method", "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key")
}

func TestGCM(t *testing.T) {
	for method, size := range keySizes {
		if !strings.HasSuffix(method, "-gcm") {
			continue
		}
		key, nonce := make([]byte, size), make([]byte, 12)
		sealed := sealGCM(t, key, nonce, "<a/>")
		plain, err := openAES(method, key, sealed)
		if err != nil || string(plain) != "<a/>" {
			t.Errorf("%s: %q %v", method, plain, err)
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := openAES(method, key, sealed); err == nil {
			t.Errorf("%s: a changed text was accepted", method)
		}
	}
}

// Proves A-safe-18.
func TestHostileResponsesAreRefused(t *testing.T) {
	sp := newSP(t)
	p := samltest.New(t, "https://idp.example/metadata", false)
	idp := parsed(t, p)
	cases := samltest.Hostile(p)
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := sp.VerifyResponse(c.Make(t, target(sp)), idp, Expected{RequestID: "id-1", Now: testNow})
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if !strings.HasPrefix(err.Error(), "saml: ") {
				t.Errorf("an error of another kind: %v", err)
			}
		})
	}
	// The corpus proves something only if valid responses of the same provider are accepted.
	if _, err := sp.VerifyResponse(p.Draft(target(sp)).Encode(t), idp, Expected{RequestID: "id-1", Now: testNow}); err != nil {
		t.Error(err)
	}
}

// Proves A-safe-18.
func TestTimeLimits(t *testing.T) {
	sp := newSP(t)
	p := samltest.New(t, "https://idp.example/metadata", false)
	idp := parsed(t, p)
	answer := p.Draft(target(sp)).Encode(t)
	for offset, ok := range map[time.Duration]bool{
		-Skew: true, -Skew - time.Second: false, 5*time.Minute + Skew - time.Second: true, 5*time.Minute + Skew: false,
	} {
		_, err := sp.VerifyResponse(answer, idp, Expected{RequestID: "id-1", Now: testNow.Add(offset)})
		if (err == nil) != ok {
			t.Errorf("%s: %v", offset, err)
		}
	}
}

func TestUnsolicitedResponses(t *testing.T) {
	sp := newSP(t)
	p := samltest.New(t, "https://idp.example/metadata", false)
	idp := parsed(t, p)
	d := p.Draft(target(sp))
	d.InResponseTo, d.ConfirmedRequest = "", ""
	unsolicited := d.Encode(t)
	if _, err := sp.VerifyResponse(unsolicited, idp, Expected{Now: testNow}); err != nil {
		t.Error(err)
	}
	if _, err := sp.VerifyResponse(unsolicited, idp, Expected{RequestID: "id-1", Now: testNow}); err == nil {
		t.Error("it was taken for the response to a request")
	}
	if _, err := sp.VerifyResponse(p.Draft(target(sp)).Encode(t), idp, Expected{Now: testNow}); err == nil {
		t.Error("the response to a request was accepted as an unsolicited one")
	}
	if issuer, err := Issuer(unsolicited); err != nil || issuer != p.EntityID {
		t.Errorf("%q %v", issuer, err)
	}
}

func TestRefusalOfTheProviderIsReported(t *testing.T) {
	sp := newSP(t)
	p := samltest.New(t, "https://idp.example/metadata", false)
	d := p.Draft(target(sp))
	d.Status = "urn:oasis:names:tc:SAML:2.0:status:Responder"
	d.Text = func(x string) string { return x[:strings.Index(x, "<saml:Assertion")] + "</samlp:Response>" }
	if _, err := sp.VerifyResponse(d.Encode(t), parsed(t, p), Expected{RequestID: "id-1", Now: testNow}); !errors.Is(err, ErrStatus) {
		t.Error(err)
	}
}

func TestSeveralCertificates(t *testing.T) {
	sp := newSP(t)
	old, young := samltest.New(t, "https://idp.example/metadata", false), samltest.New(t, "https://idp.example/metadata", true)
	idp := parsed(t, old)
	idp.Certificates = append(idp.Certificates, young.Certificate)
	for _, p := range []*samltest.IdP{old, young} {
		if _, err := sp.VerifyResponse(p.Draft(target(sp)).Encode(t), idp, Expected{RequestID: "id-1", Now: testNow}); err != nil {
			t.Error(err)
		}
	}
}

// Proves A-safe-18.
func TestEveryChangedBitInvalidatesTheResponse(t *testing.T) {
	if testing.Short() {
		t.Skip("reads thousands of changed answers")
	}
	sp := newSP(t)
	p := samltest.New(t, "https://idp.example/metadata", false)
	idp := parsed(t, p)
	d := p.Draft(target(sp))
	d.SignAssertion, d.SignResponse = false, true
	raw, err := base64.StdEncoding.DecodeString(d.Encode(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := sp.VerifyResponse(base64.StdEncoding.EncodeToString(raw), idp, Expected{RequestID: "id-1", Now: testNow})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(raw); i += 3 {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1 << (i % 7)
		got, err := sp.VerifyResponse(base64.StdEncoding.EncodeToString(changed), idp, Expected{RequestID: "id-1", Now: testNow})
		// A change in an unsigned part, such as the certificate in KeyInfo, may be accepted. The assertion must then be unchanged.
		if err == nil && (got.NameID != want.NameID || got.ID != want.ID || got.Email() != want.Email() || !got.NotOnOrAfter.Equal(want.NotOnOrAfter)) {
			t.Fatalf("byte %d: %+v", i, got)
		}
	}
}

// Proves A-safe-19.
func FuzzResponse(f *testing.F) {
	sp := newSP(f)
	p := samltest.New(f, "https://idp.example/metadata", true)
	idp := parsed(f, p)
	seeds := []string{p.Draft(target(sp)).Encode(f)}
	for _, c := range samltest.Hostile(p) {
		if strings.Contains(c.Name, "XSW") || strings.Contains(c.Name, "encrypted") || strings.Contains(c.Name, "wrapped") {
			seeds = append(seeds, c.Make(f, target(sp)))
		}
	}
	for _, s := range seeds {
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		encoded := base64.StdEncoding.EncodeToString(raw)
		_, _ = Issuer(encoded)
		got, err := sp.VerifyResponse(encoded, idp, Expected{RequestID: "id-1", Now: testNow})
		if err == nil && (got.NameID != "user-1" || got.Email() != "ana@corp.example" || got.Issuer != p.EntityID) {
			t.Fatalf("accepted: %+v", got)
		}
	})
}

func TestAttributesAreMapped(t *testing.T) {
	a := Assertion{Attributes: []Attribute{
		{Name: "urn:oid:2.5.4.42", FriendlyName: "givenName", Values: []string{"", "Ana"}},
		{Name: "groups", Values: []string{"a", "b"}}, {Name: "MAIL", Values: []string{"ana@corp.example"}},
	}}
	got := Mapping{Keys: map[string]MappedKey{
		"first": {Name: "givenname"}, "groups": {Names: []string{"missing", "groups"}, Array: true}, "plan": {Name: "plan", Default: "basic"}, "none": {Name: "none"},
	}}.Apply(&a)
	if len(got) != 3 || got["first"] != "Ana" || len(got["groups"].([]string)) != 2 || got["plan"] != "basic" {
		t.Errorf("%v", got)
	}
	if a.Email() != "ana@corp.example" || a.UserID() != "" {
		t.Errorf("%q %q", a.Email(), a.UserID())
	}
	for _, c := range []struct{ id, format, want, email string }{
		{"X1", NameIDPersistent, "X1", ""}, {"X1", NameIDTransient, "", ""}, {"Ana@Corp.example", NameIDEmail, "ana@corp.example", "Ana@Corp.example"}, {"X1", "", "X1", ""},
	} {
		a := Assertion{NameID: c.id, NameIDFormat: c.format}
		if a.UserID() != c.want || a.Email() != c.email {
			t.Errorf("%+v: %q %q", c, a.UserID(), a.Email())
		}
	}
	withID := Assertion{NameID: "changes", NameIDFormat: NameIDTransient, Attributes: []Attribute{{Name: subjectIDAttribute, Values: []string{"lasting"}}}}
	if withID.UserID() != "lasting" {
		t.Errorf("%q", withID.UserID())
	}
}
