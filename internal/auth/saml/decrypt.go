package saml

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rsa"
	_ "crypto/sha1" // the default digest of RSA-OAEP; signatures with SHA-1 are refused
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/beevik/etree"
)

// This file decrypts assertions (statements about a user) that an identity provider has encrypted. The provider encrypts the assertion
// with a random AES key, and the AES key with the public RSA key of this service.

// Accepted algorithms of XML Encryption. RSA with PKCS #1 v1.5 is not among them, because padding oracles can break it
// (Bleichenbacher's attack).
const (
	aes128CBC = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
	aes192CBC = "http://www.w3.org/2001/04/xmlenc#aes192-cbc"
	aes256CBC = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
	aes128GCM = "http://www.w3.org/2009/xmlenc11#aes128-gcm"
	aes192GCM = "http://www.w3.org/2009/xmlenc11#aes192-gcm"
	aes256GCM = "http://www.w3.org/2009/xmlenc11#aes256-gcm"
	rsaOAEP   = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p" // a message can name its digest, but no mask function
	rsaOAEP11 = "http://www.w3.org/2009/xmlenc11#rsa-oaep"        // a message can name its digest and its mask function
)

// nsXMLEnc11 is the namespace of XML Encryption 1.1.
const nsXMLEnc11 = "http://www.w3.org/2009/xmlenc11#"

// keySizes maps each AES algorithm to the length of its key in bytes.
var keySizes = map[string]int{aes128CBC: 16, aes192CBC: 24, aes256CBC: 32, aes128GCM: 16, aes192GCM: 24, aes256GCM: 32}

// RSA-OAEP uses a digest and a mask generation function. oaepDigests maps the URI of each accepted digest to its hash function. oaepMasks
// does the same for the mask generation functions. The key "" maps to the default, for a message that names no algorithm.
var oaepDigests = map[string]crypto.Hash{
	"": crypto.SHA1, "http://www.w3.org/2000/09/xmldsig#sha1": crypto.SHA1, "http://www.w3.org/2001/04/xmlenc#sha256": crypto.SHA256,
	"http://www.w3.org/2001/04/xmldsig-more#sha384": crypto.SHA384, "http://www.w3.org/2001/04/xmlenc#sha512": crypto.SHA512,
}

var oaepMasks = map[string]crypto.Hash{
	"": crypto.SHA1, nsXMLEnc11 + "mgf1sha1": crypto.SHA1, nsXMLEnc11 + "mgf1sha256": crypto.SHA256,
	nsXMLEnc11 + "mgf1sha384": crypto.SHA384, nsXMLEnc11 + "mgf1sha512": crypto.SHA512,
}

// errDecrypt is the error for every failure after the private key was used. It does not say at which step the decryption failed. With that
// information, an attacker could decrypt a message by sending modified copies of it.
var errDecrypt = errors.New("saml: the assertion cannot be decrypted")

// decrypt returns the assertion in el, an EncryptedAssertion (XML Encryption 1.1). The caller must check it like an unencrypted assertion,
// because anybody can encrypt with the public key.
func (sp *ServiceProvider) decrypt(el *etree.Element) (*etree.Element, error) {
	data, err := onlyChild(el, "the encrypted assertion", nsXMLEnc, "EncryptedData")
	if err != nil {
		return nil, err
	}
	// The EncryptedKey element is inside EncryptedData or beside it.
	keys := slices.DeleteFunc(appendElements(nil, el), func(e *etree.Element) bool { return !isElement(e, nsXMLEnc, "EncryptedKey") })
	if len(keys) != 1 {
		return nil, documentError("the encrypted assertion has %d EncryptedKey elements, not one", len(keys))
	}
	method := methodOf(data)
	size, known := keySizes[method]
	if !known {
		return nil, documentError("encryption by %q is not accepted", method)
	}
	options, err := oaepOptions(keys[0])
	if err != nil {
		return nil, err
	}
	wrapped, err := cipherValue(keys[0])
	if err != nil {
		return nil, err
	}
	sealed, err := cipherValue(data)
	if err != nil {
		return nil, err
	}
	key, err := sp.Key.Decrypt(nil, wrapped, options)
	if err != nil || len(key) != size {
		return nil, errDecrypt
	}
	plain, err := openAES(method, key, sealed)
	if err != nil {
		return nil, errDecrypt
	}
	assertion, err := parseMessage(plain)
	if err != nil {
		return nil, errDecrypt
	}
	return assertion, nil
}

// methodOf returns the algorithm of the element's EncryptionMethod, or "" when there is not exactly one.
func methodOf(el *etree.Element) string {
	methods := childrenOf(el, nsXMLEnc, "EncryptionMethod")
	if len(methods) != 1 {
		return ""
	}
	return methods[0].SelectAttrValue("Algorithm", "")
}

// oaepOptions returns the parameters with which the message encrypted its AES key, or an error for anything but RSA-OAEP.
func oaepOptions(encryptedKey *etree.Element) (*rsa.OAEPOptions, error) {
	method := methodOf(encryptedKey)
	if method != rsaOAEP && method != rsaOAEP11 {
		return nil, documentError("a key wrapped by %q is not accepted", method)
	}
	digest, mask := "", ""
	for _, c := range childrenOf(encryptedKey, nsXMLEnc, "EncryptionMethod")[0].ChildElements() {
		switch c.Tag {
		case "DigestMethod":
			digest = c.SelectAttrValue("Algorithm", "")
		case "MGF":
			mask = c.SelectAttrValue("Algorithm", "")
		default:
			return nil, documentError("a key wrapped with %s is not accepted", c.Tag)
		}
	}
	hash, ok := oaepDigests[digest]
	maskHash, okMask := oaepMasks[mask]
	if !ok || !okMask || (method == rsaOAEP && mask != "") {
		return nil, documentError("a key wrapped with %q and %q is not accepted", digest, mask)
	}
	return &rsa.OAEPOptions{Hash: hash, MGFHash: maskHash}, nil
}

// cipherValue returns the encrypted bytes in an EncryptedData or EncryptedKey element.
func cipherValue(el *etree.Element) ([]byte, error) {
	value, err := onlyChild(el, el.Tag, nsXMLEnc, "CipherData", "CipherValue")
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value.Text()), ""))
	if err != nil {
		return nil, documentError("an encrypted value is not valid base64: %w", err)
	}
	return raw, nil
}

// openAES decrypts with AES in CBC or GCM mode. The initialization vector or nonce is at the start of sealed.
func openAES(method string, key, sealed []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(method, "-gcm") {
		gcm, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		if len(sealed) < gcm.NonceSize() {
			return nil, errDecrypt
		}
		return gcm.Open(nil, sealed[:gcm.NonceSize()], sealed[gcm.NonceSize():], nil)
	}
	if len(sealed) < 2*aes.BlockSize || len(sealed)%aes.BlockSize != 0 {
		return nil, errDecrypt
	}
	plain := make([]byte, len(sealed)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, sealed[:aes.BlockSize]).CryptBlocks(plain, sealed[aes.BlockSize:])
	padding := int(plain[len(plain)-1]) // the last byte is the length of the padding, the others are arbitrary (XML Encryption §5.2)
	if padding < 1 || padding > aes.BlockSize {
		return nil, errDecrypt
	}
	return plain[:len(plain)-padding], nil
}
