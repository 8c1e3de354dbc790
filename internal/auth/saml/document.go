package saml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"
	xrv "github.com/mattermost/xml-roundtrip-validator"
)

// checkXML returns an error for XML that two parsers could read differently. An attacker could use this difference: the parser that checks
// the signature would see the signed message, and the parser that reads the content would see another message. checkXML rejects:
//   - document type declarations (DOCTYPE), which can declare entities
//   - processing instructions
//   - comments, unless allowComments is true
//   - encodings other than UTF-8
//   - repeated attributes
//   - elements that are nested more than maxDepth levels, and more than maxTokens tokens (tags, texts and other parts)
//   - XML that changes when it is written and read again
func checkXML(raw []byte, allowComments bool) error {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return documentError("the document is not UTF-8")
	}
	decoder := xml.NewDecoder(bytes.NewReader(raw)) // a strict decoder, which accepts only the five predefined entities of XML
	depth, roots := 0, 0
	for tokens := 0; ; tokens++ {
		offset := decoder.InputOffset()
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return documentError("the document is not valid XML: %w", err)
		}
		if tokens > maxTokens {
			return documentError("the document has more than %d tokens", maxTokens)
		}
		switch t := token.(type) {
		case xml.Directive:
			return documentError("the document has a document type or another directive")
		case xml.ProcInst:
			if t.Target != "xml" || offset != 0 { // only the XML declaration at the start is accepted
				return documentError("the document has a processing instruction")
			}
		case xml.Comment:
			if !allowComments {
				return documentError("the document has a comment")
			}
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			if depth++; depth > maxDepth {
				return documentError("the elements of the document are nested more than %d levels deep", maxDepth)
			}
			if err := checkAttributes(t.Attr); err != nil {
				return err
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(t)) > 0 {
				return documentError("the document has text outside of its root")
			}
		}
	}
	if roots != 1 {
		return documentError("the document has %d roots", roots)
	}
	if err := xrv.Validate(bytes.NewReader(raw)); err != nil {
		return documentError("the document does not survive a round trip: %w", err)
	}
	return nil
}

// checkAttributes returns an error for an attribute that occurs twice, because parsers differ in which of the two they use.
func checkAttributes(attributes []xml.Attr) error {
	seen := make(map[xml.Name]bool, len(attributes))
	for _, a := range attributes {
		if seen[a.Name] {
			return documentError("attribute %s is written twice", a.Name.Local)
		}
		seen[a.Name] = true
	}
	return nil
}

// parseMessage checks and parses a message, and returns its root element.
func parseMessage(raw []byte) (*etree.Element, error) {
	if err := checkXML(raw, false); err != nil {
		return nil, err
	}
	doc := etree.NewDocument()
	doc.ReadSettings.MaxDepth = maxDepth + 1
	if err := doc.ReadFromBytes(raw); err != nil {
		return nil, documentError("the document is not valid XML: %w", err)
	}
	root := doc.Root()
	if root == nil {
		return nil, documentError("the document is empty")
	}
	return root, nil
}

// isElement reports whether el has the given namespace and name.
func isElement(el *etree.Element, namespace, name string) bool {
	return el.Tag == name && el.NamespaceURI() == namespace
}

// childrenOf returns the direct children of el with the given namespace and name.
func childrenOf(el *etree.Element, namespace, name string) []*etree.Element {
	return slices.DeleteFunc(el.ChildElements(), func(c *etree.Element) bool { return !isElement(c, namespace, name) })
}

// onlyChild follows a path of elements from el, each of which must be the only child with its name, and returns the last one. subject is
// the name of el in the error.
func onlyChild(el *etree.Element, subject, namespace string, path ...string) (*etree.Element, error) {
	for _, name := range path {
		found := childrenOf(el, namespace, name)
		if len(found) != 1 {
			return nil, documentError("%s has %d %s elements, not one", subject, len(found), name)
		}
		el = found[0]
	}
	return el, nil
}

// appendElements appends el and all elements inside it to list, each before its children.
func appendElements(list []*etree.Element, el *etree.Element) []*etree.Element {
	list = append(list, el)
	for _, c := range el.ChildElements() {
		list = appendElements(list, c)
	}
	return list
}

// textOf returns the trimmed text of an element, or an error when the element contains other elements.
func textOf(el *etree.Element) (string, error) {
	if len(el.ChildElements()) > 0 {
		return "", documentError("%s has elements where a text belongs", el.Tag)
	}
	return strings.TrimSpace(el.Text()), nil
}

// idOf returns the ID attribute of an element, or "".
func idOf(el *etree.Element) string { return el.SelectAttrValue("ID", "") }
