package samltest

import (
	"bytes"
	"compress/flate"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml/xmlenc"
	dsig "github.com/russellhaering/goxmldsig"
)

// This file makes the responses of an attacker. Tests check that a service provider rejects them. To add an attack, add a call of addCase
// to one of the functions below.

// Case is one response that a service provider must reject.
type Case struct {
	Name string
	Make func(t testing.TB, target Target) string // returns the SAMLResponse to send to target (the service provider and its request)
}

// victim is the e-mail address of the user that the attacker impersonates.
const victim = "owner@corp.example"

// Hostile returns one case for each attack on a service provider that trusts only p.
func Hostile(p *IdP) []Case {
	var cases []Case
	addCase := func(name string, change func(t testing.TB, d *Draft)) {
		cases = append(cases, Case{name, func(t testing.TB, target Target) string {
			d := p.Draft(target)
			change(t, d)
			return d.Encode(t)
		}})
	}
	addCase("unsigned", func(_ testing.TB, d *Draft) { d.SignAssertion = false })
	addCase("unsigned and encrypted", func(_ testing.TB, d *Draft) { d.SignAssertion, d.Encrypt = false, xmlenc.AES256CBC })
	addTamperingCases(addCase, "signed assertion", func(*Draft) {})
	addTamperingCases(addCase, "signed response", func(d *Draft) { d.SignAssertion, d.SignResponse = false, true })
	addTamperingCases(addCase, "both signed", func(d *Draft) { d.SignResponse = true })
	addClaimCases(addCase)
	addKeyCases(addCase)
	addWrappingCases(addCase)
	addDocumentCases(addCase)
	cases = append(cases, rawCases()...)
	return cases
}

// caseAdder is a function that adds a case. change modifies the draft of a valid response, before it is signed.
type caseAdder func(name string, change func(t testing.TB, d *Draft))

// edit is a function that changes elements within root.
type edit func(root *etree.Element)

// editEach returns an edit of all elements that a path selects.
func editEach(path string, change edit) edit {
	return func(root *etree.Element) {
		for _, found := range root.FindElements(path) {
			change(found)
		}
	}
}

// setText returns an edit that sets the text of the selected elements.
func setText(path, text string) edit {
	return editEach(path, func(el *etree.Element) { el.SetText(text) })
}

// setAttribute returns an edit that sets an attribute of the selected elements.
func setAttribute(path, name, value string) edit {
	return editEach(path, func(el *etree.Element) { el.CreateAttr(name, value) })
}

// remove returns an edit that removes the elements that the paths select.
func remove(paths ...string) edit {
	return func(root *etree.Element) {
		for _, path := range paths {
			editEach(path, func(el *etree.Element) { el.Parent().RemoveChild(el) })(root)
		}
	}
}

// addTamperingCases adds responses that are changed after they were signed. sign chooses in the draft which elements are signed;
// signing describes this choice.
func addTamperingCases(addCase caseAdder, signing string, sign func(d *Draft)) {
	for name, change := range map[string]edit{
		"signature removed":      remove("./Signature", "./Assertion/Signature"),
		"attribute changed":      setText("./Assertion/AttributeStatement/Attribute/AttributeValue", victim),
		"name changed":           setText("./Assertion/Subject/NameID", victim),
		"audience changed":       setText("./Assertion/Conditions/AudienceRestriction/Audience", "https://x.example"),
		"signature value cut":    setText(".//SignatureValue", "AAAA"),
		"signature value empty":  setText(".//SignatureValue", ""),
		"digest value replaced":  setText(".//DigestValue", base64.StdEncoding.EncodeToString(make([]byte, 32))),
		"reference to the whole": setAttribute(".//Reference", "URI", ""),
		"reference elsewhere":    setAttribute(".//Reference", "URI", "#other"),
		"no transforms":          remove(".//Transforms"),
		"unknown transform":      setAttribute(".//Transform", "Algorithm", "http://www.w3.org/TR/1999/REC-xslt-19991116"),
		"second SignedInfo":      editEach(".//SignedInfo", func(s *etree.Element) { s.Parent().InsertChildAt(0, s.Copy()) }),
		"second reference":       editEach(".//Reference", func(s *etree.Element) { s.Parent().AddChild(s.Copy()) }),
	} {
		addCase(signing+": "+name, func(_ testing.TB, d *Draft) {
			sign(d)
			d.AfterSigning = func(r, _ *etree.Element) { change(r) }
		})
	}
}

// addClaimCases adds responses with a valid signature whose content must not be accepted.
func addClaimCases(addCase caseAdder) {
	for name, change := range map[string]func(d *Draft){
		"wrong audience":                 func(d *Draft) { d.Audience = "https://other.example/metadata" },
		"wrong recipient":                func(d *Draft) { d.Recipient = "https://other.example/acs" },
		"no recipient":                   func(d *Draft) { d.Recipient = "" },
		"wrong destination":              func(d *Draft) { d.Destination = "https://other.example/acs" },
		"signed without a destination":   func(d *Draft) { d.SignResponse, d.Destination = true, "" },
		"wrong InResponseTo":             func(d *Draft) { d.InResponseTo = "id-other" },
		"wrong InResponseTo, both":       func(d *Draft) { d.InResponseTo, d.ConfirmedRequest = "id-other", "id-other" },
		"wrong InResponseTo, confirmed":  func(d *Draft) { d.ConfirmedRequest = "id-other" },
		"wrong InResponseTo, signed too": func(d *Draft) { d.SignResponse, d.InResponseTo, d.ConfirmedRequest = true, "id-other", "id-other" },
		"expired":                        func(d *Draft) { d.NotOnOrAfter = d.Now.Add(-2 * time.Minute) },
		"expired long ago":               func(d *Draft) { d.NotBefore, d.NotOnOrAfter = d.Now.Add(-2*time.Hour), d.Now.Add(-time.Hour) },
		"not yet valid":                  func(d *Draft) { d.NotBefore = d.Now.Add(2 * time.Minute) },
		"issued long ago":                func(d *Draft) { d.IssueInstant = d.Now.Add(-time.Hour) },
		"issued in the future":           func(d *Draft) { d.IssueInstant = d.Now.Add(time.Hour) },
		"session over":                   func(d *Draft) { d.SessionEnd = d.Now.Add(-time.Second) },
		"refused by the provider":        func(d *Draft) { d.Status = "urn:oasis:names:tc:SAML:2.0:status:AuthnFailed" },
		"id without a shape":             func(d *Draft) { d.AssertionID = "1 2" },
		"one id for both":                func(d *Draft) { d.ResponseID = d.AssertionID },
		"SHA-1, RSA":                     func(d *Draft) { d.Method = dsig.RSASHA1SignatureMethod },
		"SHA-1, RSA, response":           func(d *Draft) { d.Method, d.SignAssertion, d.SignResponse = dsig.RSASHA1SignatureMethod, false, true },
	} {
		addCase(name, func(_ testing.TB, d *Draft) { change(d) })
	}
	comment := func(el *etree.Element) { el.CreateComment("x") }
	instruction := func(el *etree.Element) { el.CreateProcInst("x", "y") }
	for name, change := range map[string]edit{
		"no conditions":           remove("./Conditions"),
		"no audience restriction": remove("./Conditions/AudienceRestriction"),
		"unknown condition":       func(a *etree.Element) { a.SelectElement("Conditions").CreateElement("saml:Condition") },
		"second audience foreign": func(a *etree.Element) {
			c := a.SelectElement("Conditions")
			r := c.SelectElement("AudienceRestriction").Copy()
			r.SelectElement("Audience").SetText("https://x.example")
			c.AddChild(r)
		},
		"no subject":               remove("./Subject"),
		"two names":                editEach("./Subject/NameID", func(n *etree.Element) { n.Parent().InsertChildAt(0, n.Copy()) }),
		"no confirmation":          remove("./Subject/SubjectConfirmation"),
		"holder of key":            setAttribute(".//SubjectConfirmation", "Method", "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"),
		"confirmation without end": editEach(".//SubjectConfirmationData", func(el *etree.Element) { el.RemoveAttr("NotOnOrAfter") }),
		"no sign-in":               remove("./AuthnStatement"),
		"another issuer":           setText("./Issuer", "https://other.example"),
		"no issuer": func(a *etree.Element) {
			a.RemoveChild(a.SelectElement("Issuer"))
			a.InsertChildAt(0, etree.NewElement("saml:Advice"))
		},
		"version 1.1":               func(a *etree.Element) { a.CreateAttr("Version", "1.1") },
		"times that are none":       setAttribute(".//Conditions", "NotOnOrAfter", "tomorrow"),
		"assertion inside":          func(a *etree.Element) { a.CreateElement("saml:Advice").AddChild(a.Copy()) },
		"element inside the name":   func(a *etree.Element) { a.FindElement(".//NameID").CreateElement("saml:x").SetText("y") },
		"comment inside the name":   setInterrupted(".//NameID", "own", comment, "er"),
		"comment inside the e-mail": setInterrupted(".//AttributeValue", victim, comment, ".attacker.example"),
		"instruction in the e-mail": setInterrupted(".//AttributeValue", victim, instruction, ".attacker.example"),
	} {
		addCase(name, func(_ testing.TB, d *Draft) { d.BeforeSigning = func(_, a *etree.Element) { change(a) } })
	}
}

// setInterrupted returns an edit that sets a text with a node in its middle that some parsers skip, such as a comment.
func setInterrupted(path, head string, by edit, tail string) edit {
	return func(root *etree.Element) {
		el := root.FindElement(path)
		el.SetText(head)
		by(el)
		el.CreateText(tail)
	}
}

// addKeyCases adds responses that are signed with another key, or with a method that is not safe.
func addKeyCases(addCase caseAdder) {
	addCase("another provider's key", func(t testing.TB, d *Draft) {
		other := New(t, d.EntityID, false)
		d.IdP = &IdP{EntityID: d.EntityID, Key: other.Key, Certificate: d.IdP.Certificate}
	})
	addCase("self-made certificate in KeyInfo", func(t testing.TB, d *Draft) { d.IdP = New(t, d.EntityID, false) })
	addCase("self-made certificate in KeyInfo, response", func(t testing.TB, d *Draft) {
		d.IdP = New(t, d.EntityID, false)
		d.SignAssertion, d.SignResponse = false, true
	})
	addCase("self-made elliptic key", func(t testing.TB, d *Draft) {
		d.IdP, d.Method = New(t, d.EntityID, true), dsig.ECDSASHA256SignatureMethod
	})
	addCase("HMAC with the public key", func(_ testing.TB, d *Draft) {
		d.IdP = &IdP{EntityID: d.EntityID, Key: hmacSigner{d.Key, d.IdP.Certificate.RawSubjectPublicKeyInfo}, Certificate: d.IdP.Certificate}
		d.AfterSigning = func(r, _ *etree.Element) {
			setAttribute(".//SignatureMethod", "Algorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256")(r)
		}
	})
	addCase("no signature method", func(_ testing.TB, d *Draft) {
		d.AfterSigning = func(r, _ *etree.Element) { setAttribute(".//SignatureMethod", "Algorithm", "")(r) }
	})
	addCase("digest by SHA-1", func(_ testing.TB, d *Draft) {
		d.AfterSigning = func(r, _ *etree.Element) {
			setAttribute(".//DigestMethod", "Algorithm", "http://www.w3.org/2000/09/xmldsig#sha1")(r)
		}
	})
}

// hmacSigner signs with an HMAC whose key is public.
type hmacSigner struct {
	crypto.Signer
	key []byte
}

func (h hmacSigner) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	mac := hmac.New(sha256.New, h.key)
	mac.Write(digest)
	return mac.Sum(nil), nil
}

// addWrappingCases adds the eight known attacks by signature wrapping (XSW1 to XSW8) and similar ones: the signed element stays
// in the document, but a careless parser reads a forged one.
func addWrappingCases(addCase caseAdder) {
	forged := func(el *etree.Element) *etree.Element { // a copy for the attacker, without the signature
		c := el.Copy()
		c.CreateAttr("ID", "evil-"+rand.Text())
		setText(".//NameID", victim)(c)
		setText(".//AttributeValue", victim)(c)
		remove(".//Signature")(c)
		return c
	}
	// XSW1 and XSW2 move the whole response.
	replace := func(r, by *etree.Element) { // r becomes by, in place
		r.Child, r.Attr = nil, by.Copy().Attr
		for _, c := range slices.Clone(by.Copy().Child) { // AddChild takes it from the copy
			r.AddChild(c)
		}
	}
	addResponseCase := func(name string, move func(original, fake, signature *etree.Element)) {
		addCase(name, func(_ testing.TB, d *Draft) {
			d.SignAssertion, d.SignResponse = false, true
			d.AfterSigning = func(r, _ *etree.Element) {
				original, fake := r.Copy(), forged(r)
				signature := original.SelectElement("Signature")
				original.RemoveChild(signature)
				move(original, fake, signature)
				replace(r, fake)
			}
		})
	}
	addResponseCase("XSW1", func(original, fake, signature *etree.Element) {
		signature.AddChild(original)
		fake.InsertChildAt(1, signature)
	})
	addResponseCase("XSW2", func(original, fake, signature *etree.Element) {
		fake.InsertChildAt(1, original)
		fake.InsertChildAt(2, signature)
	})
	addAssertionCase := func(name string, move func(r, original, fake, signature *etree.Element)) {
		addCase(name, func(_ testing.TB, d *Draft) {
			d.AfterSigning = func(r, a *etree.Element) { move(r, a, forged(a), a.SelectElement("Signature")) }
		})
	}
	addAssertionCase("XSW3", func(r, a, fake, _ *etree.Element) { r.InsertChildAt(a.Index(), fake) })
	addAssertionCase("XSW4", func(r, a, fake, _ *etree.Element) {
		r.RemoveChild(a)
		fake.AddChild(a)
		r.AddChild(fake)
	})
	addAssertionCase("XSW5", func(r, a, fake, s *etree.Element) {
		a.RemoveChild(s)
		fake.InsertChildAt(1, s)
		r.InsertChildAt(a.Index(), fake)
	})
	addAssertionCase("XSW6", func(r, a, fake, s *etree.Element) {
		a.RemoveChild(s)
		r.RemoveChild(a)
		s.AddChild(a)
		fake.InsertChildAt(1, s)
		r.AddChild(fake)
	})
	addAssertionCase("XSW7", func(r, a, fake, _ *etree.Element) { r.InsertChildAt(a.Index(), wrapIn("samlp:Extensions", fake)) })
	addAssertionCase("XSW8", func(r, a, fake, s *etree.Element) {
		a.RemoveChild(s)
		r.RemoveChild(a)
		s.AddChild(wrapIn("ds:Object", a))
		fake.InsertChildAt(1, s)
		r.AddChild(fake)
	})
	addAssertionCase("the original hidden in an attribute", func(r, a, fake, s *etree.Element) {
		r.RemoveChild(a)
		fake.FindElement(".//AttributeValue").AddChild(a)
		r.AddChild(fake)
	})
	addAssertionCase("one id twice", func(r, a, fake, s *etree.Element) {
		fake.CreateAttr("ID", a.SelectAttrValue("ID", ""))
		fake.InsertChildAt(1, s.Copy())
		r.InsertChildAt(a.Index(), fake)
	})
	addAssertionCase("in a foreign namespace", func(r, a, fake, _ *etree.Element) {
		a.CreateAttr("xmlns:saml", "urn:example:other")
		r.AddChild(fake)
	})
	addAssertionCase("signature of the assertion on the response", func(r, a, fake, s *etree.Element) {
		r.RemoveChild(a)
		r.InsertChildAt(1, s)
		r.AddChild(fake)
	})
	addCase("two assertions", func(t testing.TB, d *Draft) {
		d.AfterSigning = func(r, _ *etree.Element) {
			second := *d
			second.AssertionID, second.NameID = "a-"+rand.Text(), "user-2"
			r.AddChild(d.Sign(t, element(t, second.AssertionXML())))
		}
	})
	addCase("two assertions, response signed", func(t testing.TB, d *Draft) {
		d.SignResponse, d.SignAssertion = true, false
		d.BeforeSigning = func(r, _ *etree.Element) {
			second := *d
			second.AssertionID = "a-" + rand.Text()
			r.AddChild(element(t, second.AssertionXML()))
		}
	})
	addCase("plain beside encrypted", func(t testing.TB, d *Draft) {
		d.Encrypt = xmlenc.AES256CBC
		d.AfterSigning = func(r, a *etree.Element) { r.AddChild(forged(a)) }
	})
}

func wrapIn(name string, child *etree.Element) *etree.Element {
	el := etree.NewElement(name)
	el.AddChild(child)
	return el
}

// addDocumentCases adds responses with a valid signature in documents with dangerous parts.
func addDocumentCases(addCase caseAdder) {
	addPrefixed := func(name, prefix string) {
		addCase(name, func(_ testing.TB, d *Draft) { d.Text = func(x string) string { return prefix + x } })
	}
	addPrefixed("DOCTYPE", `<!DOCTYPE r>`)
	addPrefixed("external entity", `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>`)
	addPrefixed("entity bomb", `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>`)
	addPrefixed("processing instruction", `<?xml-stylesheet href="x"?>`)
	addPrefixed("comment before", `<!-- x -->`)
	addPrefixed("another encoding", `<?xml version="1.0" encoding="UTF-7"?>`)
	addPrefixed("zero byte", "\x00")
	addCase("entity in the name", func(_ testing.TB, d *Draft) {
		d.Text = func(x string) string { return strings.Replace(x, "user-1", "&x;", 1) }
	})
	addCase("comment added to the name", func(_ testing.TB, d *Draft) {
		d.NameID = victim + ".attacker.example"
		d.Text = func(x string) string { return strings.Replace(x, victim+".", victim+"<!-- -->.", 1) }
	})
	addCase("comment added to the e-mail", func(_ testing.TB, d *Draft) {
		d.Attributes[0].Values[0] = victim + ".attacker.example"
		d.Text = func(x string) string { return strings.Replace(x, victim+".", victim+"<!-- -->.", 1) }
	})
	addCase("second root", func(_ testing.TB, d *Draft) { d.Text = func(x string) string { return x + x } })
	addCase("text behind the root", func(_ testing.TB, d *Draft) { d.Text = func(x string) string { return x + "x" } })
	addCase("cut off", func(_ testing.TB, d *Draft) { d.Text = func(x string) string { return x[:len(x)-20] } })
	addCase("colon names", func(_ testing.TB, d *Draft) { // does not survive a round trip through encoding/xml
		d.Text = func(x string) string { return strings.Replace(x, "<samlp:Status>", `<samlp:Status x::y="z">`, 1) }
	})
	addCase("deep", func(_ testing.TB, d *Draft) {
		d.Text = func(x string) string {
			return strings.Replace(x, "<samlp:Status>", "<samlp:Status>"+strings.Repeat("<a>", 5000)+strings.Repeat("</a>", 5000), 1)
		}
	})
	addCase("an attribute twice", func(_ testing.TB, d *Draft) {
		d.Text = func(x string) string { return strings.Replace(x, ` Version="2.0"`, ` Version="2.0" Version="2.0"`, 1) }
	})
	const (
		encryption = ".//EncryptedData/EncryptionMethod"
		value      = "./EncryptedAssertion/EncryptedData/CipherData/CipherValue"
	)
	for name, change := range map[string]edit{
		"key wrapped by RSA 1.5":  setAttribute(".//EncryptedKey/EncryptionMethod", "Algorithm", "http://www.w3.org/2001/04/xmlenc#rsa-1_5"),
		"encrypted by triple DES": setAttribute(encryption, "Algorithm", "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"),
		"encrypted value short":   setText(value, "AAAA"),
		"encrypted value uneven":  setText(value, base64.StdEncoding.EncodeToString(make([]byte, 45))),
		"wrapped key short":       setText(".//EncryptedKey/CipherData/CipherValue", "AAAA"),
		"no wrapped key":          remove(".//EncryptedKey"),
		"two wrapped keys": editEach(".//EncryptedKey", func(k *etree.Element) {
			c := k.Copy()
			c.RemoveAttr("Id")
			k.Parent().AddChild(c)
		}),
		"GCM with a short value": func(r *etree.Element) {
			setAttribute(encryption, "Algorithm", "http://www.w3.org/2009/xmlenc11#aes256-gcm")(r)
			setText(value, "AAAA")(r)
		},
	} {
		addCase(name, func(t testing.TB, d *Draft) {
			d.Encrypt = xmlenc.AES256CBC
			d.Text = func(x string) string {
				r := element(t, x)
				change(r)
				return write(t, r)
			}
		})
	}
	addCase("encrypted for somebody else", func(t testing.TB, d *Draft) {
		d.Encrypt, d.Target.Certificate = xmlenc.AES256CBC, New(t, "x", false).Certificate
	})
	addCase("encrypted, not an assertion", func(t testing.TB, d *Draft) {
		d.Encrypt = xmlenc.AES256CBC
		d.AfterSigning = func(_, a *etree.Element) { a.Tag = "Advice" }
	})
	addCase("encrypted, wrapped inside", func(t testing.TB, d *Draft) {
		d.Encrypt = xmlenc.AES256CBC
		d.AfterSigning = func(_, a *etree.Element) { a.CreateElement("saml:Advice").AddChild(a.Copy()) }
	})
}

// rawCases returns texts that are no response at all.
func rawCases() []Case {
	textCase := func(name, value string) Case { return Case{name, func(testing.TB, Target) string { return value }} }
	encodedCase := func(name, value string) Case { return textCase(name, base64.StdEncoding.EncodeToString([]byte(value))) }
	return []Case{
		textCase("not base64", "%%%"),
		textCase("5 MB of garbage", strings.Repeat("QUJD", 5<<20/4)),
		encodedCase("empty", " "),
		encodedCase("no XML", "hello"),
		encodedCase("another message", `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`),
		encodedCase("a bare response", `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`),
		encodedCase("undeclared prefix", `<samlp:Response/>`),
		encodedCase("many attributes", "<r "+strings.Repeat(`a="1" `, 20000)+"/>"),
		{"deflate bomb", func(t testing.TB, _ Target) string {
			t.Helper()
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, flate.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write(make([]byte, 100<<20))
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			return base64.StdEncoding.EncodeToString(b.Bytes())
		}},
	}
}
