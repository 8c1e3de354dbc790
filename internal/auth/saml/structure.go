package saml

import (
	"regexp"

	"github.com/beevik/etree"
)

// idPattern is what goxmldsig can refer to; it begins like an xs:ID.
var idPattern = regexp.MustCompile(`^[a-zA-Z_][\w.-]{0,255}$`)

// checkStructure allows the one shape that an answer for a sign-in has: Response, with at most one signature of its own,
// around exactly one assertion, plain or encrypted. Elements that matter may stand nowhere else, whatever namespace they
// claim, and no id may occur twice: this closes signature wrapping before a signature is looked at.
func checkStructure(response *etree.Element) (assertion *etree.Element, err error) {
	if !is(response, nsProtocol, "Response") {
		return nil, refuse("the message is no Response")
	}
	for _, c := range response.ChildElements() {
		if is(c, nsAssertion, "Assertion") || is(c, nsAssertion, "EncryptedAssertion") {
			if assertion != nil {
				return nil, refuse("there is more than one assertion")
			}
			assertion = c
		}
	}
	if assertion == nil {
		return nil, nil // a refusal of the provider has none
	}
	if err := checkPlaces(response, assertion); err != nil {
		return nil, err
	}
	return assertion, nil
}

// checkDecrypted holds an assertion that was encrypted to the same rules.
func checkDecrypted(assertion *etree.Element) error {
	if !is(assertion, nsAssertion, "Assertion") {
		return refuse("the encrypted part is no Assertion")
	}
	return checkPlaces(assertion, assertion)
}

func checkPlaces(root, assertion *etree.Element) error {
	ids := map[string]bool{}
	return descend(root, func(el *etree.Element) error {
		switch el.Tag {
		case "Response":
			if el != root {
				return refuse("a Response lies inside")
			}
		case "Assertion", "EncryptedAssertion":
			if el != assertion {
				return refuse("there is more than one assertion")
			}
		case "Signature":
			if p := el.Parent(); p != root && p != assertion {
				return refuse("a signature stands inside %s", p.Tag)
			}
		}
		for _, a := range el.Attr {
			switch a.Key {
			case "ID", "Id", "id":
				if ids[a.Value] {
					return refuse("the id %q occurs twice", a.Value)
				}
				ids[a.Value] = true
			}
		}
		return nil
	})
}
