package auth

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file has the functions for accounts that several handlers share:
//   - createAccount creates the account of a sign-up.
//   - removeUnconfirmedAccess removes the ways to sign in to an account whose e-mail address was never confirmed.
//   - userIDOrDecoy returns the id of an account. If there is no account, it returns a decoy (a made-up id), so that a handler does the same
//     work and does not reveal whether the account exists.

// accountParams describes the account that createAccount creates. Either email or phone is set.
type accountParams struct {
	email, phone   string         // normalized by normalizeEmail and normalizePhone
	passwordHash   string         // "" for an account without a password
	confirmed      bool           // the e-mail address or phone number counts as confirmed, so no confirmation message is sent
	clientMetadata map[string]any // user metadata that the client sent
}

// provider returns "email" or "phone": the provider of the account's identity (the record of a way to sign in).
func (p accountParams) provider() string {
	if p.phone != "" {
		return "phone"
	}
	return "email"
}

// userMetadata returns the user metadata of the account with this id. The account's identity gets the same data. The service sets some
// keys, such as email_verified. clientMetadata adds further keys, but cannot override the keys of the service. A null value in
// clientMetadata is left out, as mergeMetadata does. User metadata grants no rights.
func (p accountParams) userMetadata(id string) map[string]any {
	metadata := map[string]any{"sub": id, "email_verified": p.confirmed && p.phone == "", "phone_verified": p.confirmed && p.phone != ""}
	if p.email != "" {
		metadata["email"] = p.email
	}
	for key, value := range p.clientMetadata {
		if _, isReserved := metadata[key]; !isReserved && value != nil {
			metadata[key] = value
		}
	}
	return metadata
}

// validateUserMetadata returns an error if the user metadata cannot be stored. A handler must call it before it looks for an existing
// account: an error that occurs only for a new account would reveal that no account exists.
func (p accountParams) validateUserMetadata() error {
	// The account has no id yet. Any UUID gives the same result, because only the length of the id matters here.
	placeholderID := decoyNamespace.String()
	return validateMetadata(p.userMetadata(placeholderID))
}

// createAccount stores an account and its identity. The account does not get the role admin, so its holder is not an owner. If
// createAccount returns errEmailExists or errPhoneExists, the caller must roll tx back: PostgreSQL refuses further statements in tx.
func (s *Service) createAccount(ctx context.Context, tx *db.Tx, c clientInfo, account accountParams) (User, error) {
	now, provider, id := s.now(), account.provider(), uuid.NewString()
	metadata := account.userMetadata(id)
	_, err := insertUser(ctx, tx, insertUserParams{
		ID:             id,
		Email:          account.email,
		Phone:          account.phone,
		PasswordHash:   account.passwordHash,
		EmailConfirmed: account.confirmed && account.email != "",
		PhoneConfirmed: account.confirmed && account.phone != "",
		AppMetadata:    map[string]any{"provider": provider, "providers": []string{provider}},
		UserMetadata:   metadata,
	}, now)
	if err != nil {
		return User{}, err
	}
	// The providers email and phone have no ids for users, so the account's id is also the id at the provider.
	if err := saveIdentity(ctx, tx, id, provider, id, metadata, now); err != nil {
		return User{}, err
	}
	if account.confirmed { // the sign-up of an unconfirmed account is logged when the account is confirmed
		if err := s.audit(ctx, tx, c, auditSignedUp, id, map[string]any{"provider": provider}); err != nil {
			return User{}, err
		}
	}
	return userByID(ctx, tx, id)
}

// syncProviders sets provider and providers in the account's app_metadata to the providers of its identities.
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

// removeUnconfirmedAccess removes every way into an account whose e-mail address is not confirmed: password, provider identities,
// second factors, sessions, and pending links and codes. Whoever created the account may not be the user who receives mail at its
// address. The account keeps its e-mail address and its phone number.
func (s *Service) removeUnconfirmedAccess(ctx context.Context, tx *db.Tx, userID string) error {
	return errors.Join(
		setUser(ctx, tx, userID, s.now(), columnChange{colPassword, nil}),
		deleteProviderIdentities(ctx, tx, userID),
		deleteFactors(ctx, tx, userID),
		deleteSessions(ctx, tx, userID),
		deletePending(ctx, tx, userID),
		s.syncProviders(ctx, tx, userID),
	)
}

// decoyNamespace is the namespace of decoy ids: UUIDs that stand for accounts that do not exist. An e-mail address or phone number
// without an account always gets the same decoy id.
var decoyNamespace = uuid.MustParse("5b0e9c3a-6f0d-4a53-9d27-1f6f5a0d8c11")

// findAccount returns the account of a login (an e-mail address or a phone number) without its identities and factors, or the
// zero User if no account has it. It makes one query in both cases, so that the response time does not reveal whether the account
// exists.
func (s *Service) findAccount(ctx context.Context, l login) (User, error) {
	u, err := userByLogin(ctx, s.db, l)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, nil
	}
	return u, err
}

// userIDOrDecoy returns the id of the login's account, or a decoy id if there is no account.
func (s *Service) userIDOrDecoy(ctx context.Context, l login) (string, error) {
	u, err := s.findAccount(ctx, l)
	if err == nil && u.ID == "" {
		return uuid.NewSHA1(decoyNamespace, []byte(l.email+l.phone)).String(), nil
	}
	return u.ID, err
}

// deletePending deletes the unused links and codes of an account, and the flows that could still open a session of the account or
// add an identity to it.
func deletePending(ctx context.Context, q db.Querier, userID string) error {
	return errors.Join(deleteRows(ctx, q, userID, "auth_one_time_tokens"), deleteFlowsOf(ctx, q, userID))
}
