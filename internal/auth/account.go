package auth

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// newAccount describes the account that a sign-up creates. It has either an e-mail address or a phone number.
type newAccount struct {
	email, phone string         // exactly one is set
	hash         string         // hash of the password; "" for an account without one
	confirmed    bool           // the e-mail address or phone number needs no confirmation by a message
	data         map[string]any // user metadata that the client sent
}

// provider returns "email" or "phone".
func (n newAccount) provider() string {
	if n.phone != "" {
		return "phone"
	}
	return "email"
}

// profile returns the user metadata of the account with this id; its identity stores the same. It consists of data and of the
// entries that the service sets itself, such as email_verified, which data cannot override. Metadata grants no rights.
func (n newAccount) profile(id string) map[string]any {
	metadata := map[string]any{"sub": id, "email_verified": n.confirmed && n.phone == "", "phone_verified": n.confirmed && n.phone != ""}
	if n.email != "" {
		metadata["email"] = n.email
	}
	for k, v := range n.data {
		if _, isReserved := metadata[k]; !isReserved && v != nil {
			metadata[k] = v
		}
	}
	return metadata
}

// validateProfile returns an error for metadata that cannot be stored. It must run before the account is looked up: otherwise
// the error would reveal whether the account exists.
func (n newAccount) validateProfile() error {
	return validateMetadata(n.profile(decoyNamespace.String()))
}

// createAccount stores an account and its identity. The account never gets a role. After errEmailExists or errPhoneExists the
// transaction must be rolled back, because PostgreSQL refuses further statements in it.
func (s *Service) createAccount(ctx context.Context, tx *db.Tx, c client, account newAccount) (User, error) {
	now, provider, id := s.now(), account.provider(), uuid.NewString()
	metadata := account.profile(id)
	_, err := insertUser(ctx, tx, newUser{
		ID: id, Email: account.email, Phone: account.phone, Hash: account.hash, EmailConfirmed: account.confirmed && account.email != "", PhoneConfirmed: account.confirmed && account.phone != "",
		AppMetadata: map[string]any{"provider": provider, "providers": []string{provider}}, UserMetadata: metadata,
	}, now)
	if err != nil {
		return User{}, err
	}
	if err := saveIdentity(ctx, tx, id, provider, id, metadata, now); err != nil {
		return User{}, err
	}
	if account.confirmed { // the sign-up of an unconfirmed account is logged at its confirmation
		if err := s.audit(ctx, tx, c, auditSignedUp, id, map[string]any{"provider": provider}); err != nil {
			return User{}, err
		}
	}
	return userByID(ctx, tx, id)
}

// syncProviders writes the providers of the account's identities into its app_metadata.
func (s *Service) syncProviders(ctx context.Context, tx *db.Tx, userID string) error {
	u, err := userByID(ctx, tx, userID)
	if err != nil {
		return err
	}
	names := []any{}
	for _, i := range u.Identities {
		if !slices.Contains(names, any(i.Provider)) {
			names = append(names, i.Provider)
		}
	}
	changes := map[string]any{"providers": names}
	if len(names) > 0 {
		changes["provider"] = names[0]
	}
	return setUser(ctx, tx, userID, s.now(), columnChange{colAppMetadata, mergeMetadata(u.AppMetadata, changes)})
}

// removeUnprovenAccess removes every way into an account whose e-mail address is not proven: password, provider identities,
// second factors, sessions, and pending links and codes. Somebody else may have opened the account. The e-mail address and the
// phone number stay.
func (s *Service) removeUnprovenAccess(ctx context.Context, tx *db.Tx, userID string) error {
	return errors.Join(
		setUser(ctx, tx, userID, s.now(), columnChange{colPassword, nil}),
		deleteProviderIdentities(ctx, tx, userID),
		deleteFactors(ctx, tx, userID),
		deleteSessions(ctx, tx, userID),
		deletePending(ctx, tx, userID),
		s.syncProviders(ctx, tx, userID),
	)
}

// decoyNamespace is the namespace of decoy ids (UUIDs). An e-mail address or phone number without an account always gets the
// same decoy id.
var decoyNamespace = uuid.MustParse("5b0e9c3a-6f0d-4a53-9d27-1f6f5a0d8c11")

// account returns the account of a login without its identities and factors, or the zero User when there is none. It makes one
// query in either case, so that the response time does not reveal whether the account exists.
func (s *Service) account(ctx context.Context, l login) (User, error) {
	u, err := userByLogin(ctx, s.db, l)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, nil
	}
	return u, err
}

// userIDOrDecoy returns the id of the account, or a decoy id when there is none.
func (s *Service) userIDOrDecoy(ctx context.Context, l login) (string, error) {
	u, err := s.account(ctx, l)
	if err == nil && u.ID == "" {
		return uuid.NewSHA1(decoyNamespace, []byte(l.email+l.phone)).String(), nil
	}
	return u.ID, err
}

// identityData returns the data of an e-mail or phone identity. kind is "email" or "phone", address the e-mail address or phone
// number. verified is true if it is proven.
func identityData(userID, kind, address string, verified bool) map[string]any {
	return map[string]any{"sub": userID, kind: address, "email_verified": kind == "email" && verified, "phone_verified": kind == "phone" && verified}
}

// deletePending deletes the links and codes that were sent for an account, and the flows that could still open a session of
// it or add an identity to it.
func deletePending(ctx context.Context, q db.Querier, userID string) error {
	return errors.Join(deleteAllOneTimeTokens(ctx, q, userID), deleteFlowsOf(ctx, q, userID))
}
