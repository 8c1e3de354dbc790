package saml

import (
	"crypto/x509"
	"errors"
	"slices"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// This file verifies the XML signatures of responses and assertions.

// Accepted algorithms of XML signatures. SHA-1 is excluded because it is broken. HMAC is excluded because its key would be the provider's
// public key, which everybody knows. A canonicalization converts an XML element to the bytes that are digested.
var (
	signatureMethods = []string{
		dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod, dsig.RSASHA512SignatureMethod,
		dsig.ECDSASHA256SignatureMethod, dsig.ECDSASHA384SignatureMethod, dsig.ECDSASHA512SignatureMethod,
	}
	digestMethods = []string{
		"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384", "http://www.w3.org/2001/04/xmlenc#sha512",
	}
	canonicalizations = []string{
		dsig.CanonicalXML10ExclusiveAlgorithmId.String(), dsig.CanonicalXML11AlgorithmId.String(), dsig.CanonicalXML10RecAlgorithmId.String(),
	}
)

// verifySignature checks the signature in el. It returns a new element, parsed from the bytes that the signature covers. The caller must
// read only this element, so that it reads nothing that is not signed. verifySignature returns nil if el has no signature. certificates are
// the signing certificates in the provider's metadata.
func verifySignature(el *etree.Element, certificates []*x509.Certificate, now time.Time) (*etree.Element, error) {
	signatures := childrenOf(el, nsXMLDSig, "Signature")
	switch len(signatures) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, documentError("%s has %d signatures", el.Tag, len(signatures))
	}
	if err := checkSignature(el, signatures[0]); err != nil {
		return nil, err
	}
	// detached is a copy of el without its parents. It declares the namespaces of the parents itself.
	context, err := etreeutils.NSBuildParentContext(el)
	if err != nil {
		return nil, documentError("namespaces: %w", err)
	}
	if context, err = context.SubContext(el); err != nil {
		return nil, documentError("namespaces: %w", err)
	}
	detached, err := etreeutils.NSDetatch(context, el)
	if err != nil {
		return nil, documentError("namespaces: %w", err)
	}
	// KeyInfo can contain a certificate, which an attacker may have put there. It is removed, so that only the certificates of the
	// provider's metadata are trusted.
	for _, s := range childrenOf(detached, nsXMLDSig, "Signature") {
		for _, k := range childrenOf(s, nsXMLDSig, "KeyInfo") {
			s.RemoveChild(k)
		}
	}
	var errs []error
	for _, certificate := range certificates {
		validation := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{certificate}})
		validation.IdAttribute = "ID"
		validation.Clock = dsig.NewFakeClockAt(now)
		covered, err := validation.Validate(detached)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if covered == nil || covered.Tag != el.Tag || idOf(covered) != idOf(el) {
			return nil, documentError("the signature covers another element")
		}
		return covered, nil
	}
	return nil, documentError("the signature of %s was not made with a key of the provider: %w", el.Tag, errors.Join(errs...))
}

// checkSignature returns an error unless the signature is enveloped, covers exactly the element that contains it, and uses
// accepted algorithms.
func checkSignature(signed, signature *etree.Element) error {
	if !idPattern.MatchString(idOf(signed)) {
		return documentError("%s has no usable ID", signed.Tag)
	}
	info, err := onlyChild(signature, signature.Tag, nsXMLDSig, "SignedInfo")
	if err != nil {
		return err
	}
	if _, err := onlyChild(signature, signature.Tag, nsXMLDSig, "SignatureValue"); err != nil {
		return err
	}
	for _, c := range signature.ChildElements() {
		if c.Tag != "SignedInfo" && c.Tag != "SignatureValue" && c.Tag != "KeyInfo" {
			return documentError("the signature has a %s", c.Tag)
		}
	}
	if err := checkAlgorithm(info, "CanonicalizationMethod", canonicalizations); err != nil {
		return err
	}
	if err := checkAlgorithm(info, "SignatureMethod", signatureMethods); err != nil {
		return err
	}
	reference, err := onlyChild(info, info.Tag, nsXMLDSig, "Reference")
	if err != nil {
		return err
	}
	if len(info.ChildElements()) != 3 {
		return documentError("the signature has more than one reference")
	}
	if uri := reference.SelectAttrValue("URI", ""); uri != "#"+idOf(signed) {
		return documentError("the signature refers to %q, not to the element that carries it", uri)
	}
	if err := checkAlgorithm(reference, "DigestMethod", digestMethods); err != nil {
		return err
	}
	if _, err := onlyChild(reference, reference.Tag, nsXMLDSig, "DigestValue"); err != nil {
		return err
	}
	return checkTransforms(reference)
}

// checkTransforms requires the enveloped-signature transform and one canonicalization, as SAML core §5.4.4 says.
func checkTransforms(reference *etree.Element) error {
	transforms, err := onlyChild(reference, reference.Tag, nsXMLDSig, "Transforms")
	if err != nil {
		return err
	}
	list := transforms.ChildElements()
	if len(list) != 2 || !isElement(list[0], nsXMLDSig, "Transform") || !isElement(list[1], nsXMLDSig, "Transform") ||
		list[0].SelectAttrValue("Algorithm", "") != dsig.EnvelopedSignatureAltorithmId.String() ||
		!slices.Contains(canonicalizations, list[1].SelectAttrValue("Algorithm", "")) {
		return documentError("the signature has unusual transforms")
	}
	return nil
}

// checkAlgorithm returns an error unless the child with a name has one of the allowed algorithms.
func checkAlgorithm(el *etree.Element, name string, allowed []string) error {
	method, err := onlyChild(el, el.Tag, nsXMLDSig, name)
	if err != nil {
		return err
	}
	if a := method.SelectAttrValue("Algorithm", ""); !slices.Contains(allowed, a) {
		return documentError("%s %q is not accepted", name, a)
	}
	return nil
}
