package auth

import (
	"context"
	"errors"
	"net/url"
	"sync"

	"atelie/internal/auth/saml"
	"atelie/internal/db"
)

// ssoKeyPurpose binds the sealed key to its use.
const ssoKeyPurpose = "saml key"

// ownSAML keeps our side of SAML as it was opened from sealed. What is sealed is read anew each time: a command or
// another node may have renewed it.
type ownSAML struct {
	mu     sync.Mutex
	sealed string
	sp     *saml.ServiceProvider
}

// serviceProvider gives our side of SAML; the first call of all makes the key.
func (s *Service) serviceProvider(ctx context.Context) (*saml.ServiceProvider, error) {
	s.saml.mu.Lock()
	defer s.saml.mu.Unlock()
	sealed, certificate, err := ssoKey(ctx, s.db)
	if errors.Is(err, db.ErrNoRows) {
		sealed, certificate, err = s.makeSSOKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s.saml.sp != nil && s.saml.sealed == sealed {
		return s.saml.sp, nil
	}
	plain, err := s.sealer.unseal(ssoKeyPurpose, sealed)
	if err != nil {
		return nil, err
	}
	key, cert, err := saml.ParseKeyPair(plain, certificate)
	if err != nil {
		return nil, err
	}
	s.saml.sp, s.saml.sealed = saml.New(s.cfg.APIURL+"/auth/v1/sso/saml", key, cert), sealed
	return s.saml.sp, nil
}

func (s *Service) makeSSOKey(ctx context.Context) (sealed string, certificate []byte, err error) {
	host := s.cfg.APIURL
	if u, err := url.Parse(s.cfg.APIURL); err == nil {
		host = u.Hostname()
	}
	key, certificate, err := saml.NewKeyPair(host, s.now())
	if err != nil {
		return "", nil, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		sealed, certificate, err = keepSSOKey(ctx, tx, s.sealer.seal(ssoKeyPurpose, key), certificate, s.now())
		return err
	})
	return sealed, certificate, err
}

// RenewSSOKey replaces our key pair: after it leaked, or after the server's secret changed and it cannot be opened any
// more. Running servers take the new one at once; identity providers must read our metadata again.
func (s *Service) RenewSSOKey(ctx context.Context) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := deleteSSOKey(ctx, tx); err != nil {
			return err
		}
		return s.audit(ctx, tx, client{}, auditSSOProvider, "", map[string]any{"change": "own key renewed"})
	})
}

// SSOInfo is what an identity provider must be told about us.
type SSOInfo struct {
	Enabled               bool
	SignupOpen            bool
	EntityID, MetadataURL string
	ACSURL                string
}

// SSOInfo gives the addresses to enter at an identity provider. It makes our key if there is none.
func (s *Service) SSOInfo(ctx context.Context) (SSOInfo, error) {
	sp, err := s.serviceProvider(ctx)
	if err != nil {
		return SSOInfo{}, err
	}
	return SSOInfo{Enabled: s.cfg.SAML, SignupOpen: s.cfg.SignupOpen, EntityID: sp.MetadataURL, MetadataURL: sp.MetadataURL, ACSURL: sp.ACSURL}, nil
}
