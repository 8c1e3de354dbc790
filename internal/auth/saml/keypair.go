package saml

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"time"
)

// This file creates and parses the key pair of this service. The service signs authentication requests and decrypts assertions with it.

const (
	keyBits          = 2048 // length of a new RSA key
	certificateYears = 100  // validity of a new certificate
	// clockDifference is how long before its creation a certificate becomes valid, because clocks of identity providers may be behind.
	clockDifference = 24 * time.Hour
)

// NewKeyPair creates an RSA key and a certificate for the service provider on a host. It returns the key in PKCS #8 and the
// certificate, both encoded in DER. Identity providers use the certificate only to read the public key, so the certificate is
// self-signed and valid for certificateYears.
func NewKeyPair(host string, now time.Time) (key, certificate []byte, err error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // 120 bits: at most 20 bytes are allowed (RFC 5280 §4.1.2.2)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "SAML 2.0 service provider " + host},
		NotBefore: now.Add(-clockDifference).UTC(), NotAfter: now.AddDate(certificateYears, 0, 0).UTC(),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment,
	}
	if certificate, err = x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private); err != nil {
		return nil, nil, err
	}
	key, err = x509.MarshalPKCS8PrivateKey(private)
	return key, certificate, err
}

// ParseKeyPair parses the key and the certificate that NewKeyPair has created. It returns an error when the certificate does not
// contain the public half of the key.
func ParseKeyPair(key, certificate []byte) (*rsa.PrivateKey, *x509.Certificate, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, nil, errors.New("saml: the key is not an RSA key")
	}
	cert, err := x509.ParseCertificate(certificate)
	if err != nil {
		return nil, nil, err
	}
	if !private.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, errors.New("saml: the key and the certificate do not belong together")
	}
	return private, cert, nil
}
