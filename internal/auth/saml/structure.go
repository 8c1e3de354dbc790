package saml

import (
	"regexp"

	"github.com/beevik/etree"
)

// This file checks that a response has its elements only in the places where SAML expects them.

// idPattern matches the accepted IDs of signed elements: at most 256 characters, in the form by which package goxmldsig finds elements.
var idPattern = regexp.MustCompile(`^[a-zA-Z_][\w.-]{0,255}$`)

// checkStructure checks that a message is a Response with at most one assertion, plain or encrypted. It returns the assertion, or nil if
// there is none. It rejects ids that occur twice, and Response, Assertion and Signature elements of any namespace in other places.
// This check alone prevents signature wrapping (an attack that adds elements beside the signed ones), even before a signature is verified.
func checkStructure(response *etree.Element) (assertion *etree.Element, err error) {
	if !isElement(response, nsProtocol, "Response") {
		return nil, documentError("the message is not a Response")
	}
	for _, c := range response.ChildElements() {
		if isElement(c, nsAssertion, "Assertion") || isElement(c, nsAssertion, "EncryptedAssertion") {
			if assertion != nil {
				return nil, documentError("there is more than one assertion")
			}
			assertion = c
		}
	}
	if assertion == nil {
		return nil, nil // a response in which the provider refuses the sign-in has no assertion
	}
	return assertion, checkPositions(response, assertion)
}

// checkDecrypted applies the rules of checkStructure to a decrypted assertion.
func checkDecrypted(assertion *etree.Element) error {
	if !isElement(assertion, nsAssertion, "Assertion") {
		return documentError("the encrypted element is not an Assertion")
	}
	return checkPositions(assertion, assertion)
}

// checkPositions checks the positions of all Response, Assertion and Signature elements within root, and that no id occurs twice.
// The parameter assertion is the only assertion that it accepts.
func checkPositions(root, assertion *etree.Element) error {
	ids := map[string]bool{}
	for _, el := range appendElements(nil, root) {
		switch el.Tag {
		case "Response":
			if el != root {
				return documentError("a Response is inside another element")
			}
		case "Assertion", "EncryptedAssertion":
			if el != assertion {
				return documentError("there is more than one assertion")
			}
		case "Signature":
			if p := el.Parent(); p != root && p != assertion {
				return documentError("a signature is inside %s, where none is allowed", p.Tag)
			}
		}
		for _, a := range el.Attr {
			if a.Key != "ID" && a.Key != "Id" && a.Key != "id" {
				continue
			}
			if ids[a.Value] {
				return documentError("the id %q occurs twice", a.Value)
			}
			ids[a.Value] = true
		}
	}
	return nil
}
