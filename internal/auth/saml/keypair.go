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

const keyBits = 2048

// NewKeyPair makes the key of a service provider in PKCS #8 and its certificate, both DER. Providers take the
// certificate as a vessel of the public key, so it signs itself and does not expire in practice.
func NewKeyPair(host string, now time.Time) (key, certificate []byte, err error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "SAML 2.0 service provider " + host},
		NotBefore: now.Add(-24 * time.Hour).UTC(), NotAfter: now.AddDate(100, 0, 0).UTC(),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment,
	}
	if certificate, err = x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private); err != nil {
		return nil, nil, err
	}
	key, err = x509.MarshalPKCS8PrivateKey(private)
	return key, certificate, err
}

// ParseKeyPair reads what NewKeyPair made and checks that the two belong together.
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
