package saml

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/beevik/etree"
)

// This file verifies the responses of identity providers. structure.go, signature.go and decrypt.go have the steps.

// Expected holds the values that a response must match.
type Expected struct {
	// RequestID is the id of the authentication request, which the response must repeat as InResponseTo. "" means that the identity
	// provider has started the sign-in. The response must then name no request (SAML profiles §4.1.5).
	RequestID string
	Now       time.Time // the time at which the response must be valid
}

// VerifyResponse checks the SAMLResponse of the POST binding (the browser posts it in a form, in base64) and returns the one
// assertion in it. If it returns an error, the caller must sign nobody in. The error wraps ErrStatus when the identity provider
// has refused the sign-in.
func (sp *ServiceProvider) VerifyResponse(encoded string, idp *IdentityProvider, want Expected) (Assertion, error) {
	response, err := decodeResponse(encoded)
	if err != nil {
		return Assertion{}, err
	}
	assertion, err := checkStructure(response)
	if err != nil {
		return Assertion{}, err
	}
	signedResponse, err := verifySignature(response, idp.Certificates, want.Now) // nil: the response is not signed as a whole
	if err != nil {
		return Assertion{}, err
	}
	if signedResponse != nil {
		response = signedResponse
	}
	if err := sp.checkResponse(response, signedResponse != nil, idp, want); err != nil {
		return Assertion{}, err
	}
	if assertion == nil {
		return Assertion{}, documentError("there is no assertion")
	}
	if signedResponse != nil { // from here on, only the elements that the signature covers are used
		if assertion, err = checkStructure(signedResponse); err != nil {
			return Assertion{}, err
		}
		if assertion == nil {
			return Assertion{}, documentError("the signature covers no assertion")
		}
	}
	if assertion.Tag == "EncryptedAssertion" {
		if assertion, err = sp.decrypt(assertion); err != nil {
			return Assertion{}, err
		}
		if err := checkDecrypted(assertion); err != nil {
			return Assertion{}, err
		}
	}
	signedAssertion, err := verifySignature(assertion, idp.Certificates, want.Now)
	if err != nil {
		return Assertion{}, err
	}
	switch {
	case signedAssertion != nil:
		assertion = signedAssertion
	case signedResponse == nil:
		return Assertion{}, documentError("neither the response nor the assertion is signed")
	}
	return sp.readAssertion(assertion, idp, want)
}

// Issuer returns the issuer that a response names, by which the caller finds the identity provider. Issuer verifies nothing, so the
// issuer may be forged.
func Issuer(encoded string) (string, error) {
	response, err := decodeResponse(encoded)
	if err != nil {
		return "", err
	}
	if !isElement(response, nsProtocol, "Response") {
		return "", documentError("the message is not a Response")
	}
	for _, el := range append([]*etree.Element{response}, childrenOf(response, nsAssertion, "Assertion")...) {
		if issuers := childrenOf(el, nsAssertion, "Issuer"); len(issuers) == 1 {
			return textOf(issuers[0])
		}
	}
	return "", documentError("the response names no issuer")
}

func decodeResponse(encoded string) (*etree.Element, error) {
	if len(encoded) > MaxResponse {
		return nil, documentError("the response has %d bytes, more than %d", len(encoded), MaxResponse)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded), ""))
	if err != nil {
		return nil, documentError("the response is not valid base64: %w", err)
	}
	return parseMessage(raw)
}

// checkResponse checks version, destination, request, issuer, age and status of a Response. signed is true if a signature
// covers el.
func (sp *ServiceProvider) checkResponse(el *etree.Element, signed bool, idp *IdentityProvider, want Expected) error {
	if v := el.SelectAttrValue("Version", ""); v != "2.0" {
		return documentError("the response has the version %q, not 2.0", v)
	}
	destination := el.SelectAttr("Destination")
	switch {
	case destination == nil && signed: // SAML bindings §3.5.5.2
		return documentError("the signed response names no destination")
	case destination != nil && destination.Value != sp.ACSURL:
		return documentError("the response is meant for %q", destination.Value)
	}
	if answers := el.SelectAttrValue("InResponseTo", ""); answers != want.RequestID {
		return documentError("the response is for the request %q, not %q", answers, want.RequestID)
	}
	if issuers := childrenOf(el, nsAssertion, "Issuer"); len(issuers) > 0 {
		if err := checkIssuer(el, idp); err != nil {
			return err
		}
	}
	if _, err := checkIssued(el, want.Now); err != nil {
		return err
	}
	status, err := onlyChild(el, "the response", nsProtocol, "Status", "StatusCode")
	if err != nil {
		return err
	}
	if code := status.SelectAttrValue("Value", ""); code != statusSuccess {
		return documentError("status %q: %w", code, ErrStatus)
	}
	return nil
}

func checkIssuer(el *etree.Element, idp *IdentityProvider) error {
	child, err := onlyChild(el, el.Tag, nsAssertion, "Issuer")
	if err != nil {
		return err
	}
	issuer, err := textOf(child)
	if err == nil && issuer != idp.EntityID {
		return documentError("%s was issued by %q, not by %q", el.Tag, issuer, idp.EntityID)
	}
	return err
}

// checkIssued returns when the element was issued, or an error when that was in the future or longer than maxAge ago.
func checkIssued(el *etree.Element, now time.Time) (time.Time, error) {
	at, err := timeAttribute(el, "IssueInstant")
	switch {
	case err != nil:
	case at.IsZero():
		err = documentError("%s does not say when it was issued", el.Tag)
	case at.After(now.Add(Skew)):
		err = documentError("%s was issued in the future, at %s", el.Tag, at)
	case !now.Before(at.Add(maxAge + Skew)):
		err = documentError("%s was issued at %s, too long ago", el.Tag, at)
	}
	return at, err
}

// readAssertion checks and reads an assertion that a verified signature covers.
func (sp *ServiceProvider) readAssertion(el *etree.Element, idp *IdentityProvider, want Expected) (Assertion, error) {
	a := Assertion{ID: idOf(el), Issuer: idp.EntityID}
	if a.ID == "" || len(a.ID) > 256 {
		return Assertion{}, documentError("the assertion has no usable ID")
	}
	if v := el.SelectAttrValue("Version", ""); v != "2.0" {
		return Assertion{}, documentError("the assertion has the version %q, not 2.0", v)
	}
	if err := checkIssuer(el, idp); err != nil {
		return Assertion{}, err
	}
	issued, err := checkIssued(el, want.Now)
	if err != nil {
		return Assertion{}, err
	}
	if err := sp.checkConditions(el, want.Now); err != nil {
		return Assertion{}, err
	}
	if err := sp.readSubject(&a, el, want); err != nil {
		return Assertion{}, err
	}
	// The end of the accepted confirmation does not limit UsableUntil, because another confirmation may be valid for longer.
	a.UsableUntil = issued.Add(maxAge + Skew)
	if err := readAuthnStatements(&a, el, want.Now); err != nil {
		return Assertion{}, err
	}
	err = readAttributes(&a, el)
	return a, err
}

// checkConditions checks that the assertion is valid now and is meant for this service provider (SAML core §2.5, profiles
// §4.1.4.2).
func (sp *ServiceProvider) checkConditions(el *etree.Element, now time.Time) error {
	conditions := childrenOf(el, nsAssertion, "Conditions")
	if len(conditions) != 1 {
		return documentError("the assertion has %d Conditions elements, not one", len(conditions))
	}
	if err := checkValidity(conditions[0], now); err != nil {
		return err
	}
	restricted := false
	for _, c := range conditions[0].ChildElements() {
		switch {
		case isElement(c, nsAssertion, "AudienceRestriction"): // when there are several, each must name this service provider
			restricted = true
			ours := false
			for _, audience := range childrenOf(c, nsAssertion, "Audience") {
				name, err := textOf(audience)
				if err != nil {
					return err
				}
				ours = ours || name == sp.MetadataURL
			}
			if !ours {
				return documentError("the assertion is for another audience")
			}
		case isElement(c, nsAssertion, "OneTimeUse"), isElement(c, nsAssertion, "ProxyRestriction"): // fulfilled for every assertion: it is used once and not passed on
		default:
			return documentError("the assertion has the condition %s, which is unknown here", c.Tag)
		}
	}
	if !restricted {
		return documentError("the assertion names no audience")
	}
	return nil
}

// readSubject reads the NameID. It requires a bearer confirmation that checkConfirmation accepts.
func (sp *ServiceProvider) readSubject(a *Assertion, el *etree.Element, want Expected) (err error) {
	subjects := childrenOf(el, nsAssertion, "Subject")
	if len(subjects) != 1 {
		return documentError("the assertion has %d Subject elements, not one", len(subjects))
	}
	names := childrenOf(subjects[0], nsAssertion, "NameID")
	if len(names) > 1 || len(childrenOf(subjects[0], nsAssertion, "EncryptedID")) > 0 {
		return documentError("the subject has several names, or an encrypted one")
	}
	if len(names) == 1 {
		if a.NameID, err = textOf(names[0]); err != nil {
			return err
		}
		a.NameIDFormat = names[0].SelectAttrValue("Format", "")
	}
	reason := documentError("the subject has no bearer confirmation")
	for _, c := range childrenOf(subjects[0], nsAssertion, "SubjectConfirmation") {
		if c.SelectAttrValue("Method", "") != methodBearer {
			continue
		}
		if reason = sp.checkConfirmation(c, want); reason == nil {
			return nil
		}
	}
	return reason
}

// checkConfirmation checks a bearer confirmation by the rules of SAML profiles §4.1.4.2.
func (sp *ServiceProvider) checkConfirmation(confirmation *etree.Element, want Expected) error {
	data, err := onlyChild(confirmation, "the confirmation", nsAssertion, "SubjectConfirmationData")
	if err != nil {
		return err
	}
	if recipient := data.SelectAttrValue("Recipient", ""); recipient != sp.ACSURL {
		return documentError("the assertion is meant for the recipient %q", recipient)
	}
	if answers := data.SelectAttrValue("InResponseTo", ""); answers != want.RequestID {
		return documentError("the assertion is for the request %q, not %q", answers, want.RequestID)
	}
	if data.SelectAttr("NotOnOrAfter") == nil {
		return documentError("the confirmation has no NotOnOrAfter")
	}
	return checkValidity(data, want.Now)
}

// readAuthnStatements reads the end of the provider's session. It requires an authentication statement, because an assertion
// without one is no sign-in.
func readAuthnStatements(a *Assertion, el *etree.Element, now time.Time) error {
	statements := childrenOf(el, nsAssertion, "AuthnStatement")
	if len(statements) == 0 {
		return documentError("the assertion has no AuthnStatement")
	}
	for _, s := range statements {
		if a.SessionIndex == "" {
			a.SessionIndex = s.SelectAttrValue("SessionIndex", "")
		}
		end, err := timeAttribute(s, "SessionNotOnOrAfter")
		if err != nil {
			return err
		}
		if !end.IsZero() && (a.NotOnOrAfter.IsZero() || end.Before(a.NotOnOrAfter)) {
			a.NotOnOrAfter = end
		}
	}
	if !a.NotOnOrAfter.IsZero() && !now.Before(a.NotOnOrAfter) {
		return documentError("the session at the provider ended at %s", a.NotOnOrAfter)
	}
	return nil
}

func readAttributes(a *Assertion, el *etree.Element) error {
	for _, statement := range childrenOf(el, nsAssertion, "AttributeStatement") {
		for _, attribute := range childrenOf(statement, nsAssertion, "Attribute") {
			read := Attribute{Name: attribute.SelectAttrValue("Name", ""), FriendlyName: attribute.SelectAttrValue("FriendlyName", "")}
			for _, value := range childrenOf(attribute, nsAssertion, "AttributeValue") {
				if len(value.ChildElements()) > 0 { // structured values, such as a NameID, are ignored
					continue
				}
				v, err := textOf(value)
				if err != nil {
					return err
				}
				read.Values = append(read.Values, v)
			}
			a.Attributes = append(a.Attributes, read)
		}
	}
	return nil
}

// checkValidity checks the element's NotBefore and NotOnOrAfter, where present, with a tolerance of Skew.
func checkValidity(el *etree.Element, now time.Time) error {
	from, err := timeAttribute(el, "NotBefore")
	if err != nil {
		return err
	}
	until, err := timeAttribute(el, "NotOnOrAfter")
	if err != nil {
		return err
	}
	if !from.IsZero() && now.Add(Skew).Before(from) {
		return documentError("%s is not valid before %s", el.Tag, from)
	}
	if !until.IsZero() && !now.Before(until.Add(Skew)) {
		return documentError("%s is not valid since %s", el.Tag, until)
	}
	return nil
}

// timeAttribute returns the time in an attribute, or the zero time when the attribute is absent. SAML requires UTC, but some
// providers write no time zone.
func timeAttribute(el *etree.Element, name string) (time.Time, error) {
	attribute := el.SelectAttr(name)
	if attribute == nil {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, attribute.Value); err == nil && !t.IsZero() {
			return t.UTC(), nil
		}
	}
	return time.Time{}, documentError("%s of %s is not a time: %q", name, el.Tag, attribute.Value)
}
