package auth

import (
	"context"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// newAccount is what somebody opens for themselves, by an address or by a number.
type newAccount struct {
	email, phone, hash string
	confirmed          bool
	data               map[string]any
}

// provider is the way in which the account signs in.
func (n newAccount) provider() string {
	if n.phone != "" {
		return "phone"
	}
	return "email"
}

// facts are what account and identity say about themselves: never anything that grants rights.
func (n newAccount) facts(id string) map[string]any {
	facts := map[string]any{"sub": id, "email_verified": n.confirmed && n.phone == "", "phone_verified": n.confirmed && n.phone != ""}
	if n.email != "" {
		facts["email"] = n.email
	}
	for k, v := range n.data {
		if _, ours := facts[k]; !ours && v != nil {
			facts[k] = v
		}
	}
	return facts
}

// checkFacts refuses data that could not be kept, before it is known whether the account exists: the answer must not tell.
func (n newAccount) checkFacts() error { return checkData(n.facts(nobody.String())) }

// openAccount makes an account with its identity. It never gets a role (READING §2). errEmailExists and
// errPhoneExists end the transaction.
func (s *Service) openAccount(ctx context.Context, tx *db.Tx, c client, n newAccount) (User, error) {
	now, provider, id := s.now(), n.provider(), uuid.NewString()
	facts := n.facts(id)
	_, err := insertUser(ctx, tx, newUser{
		ID: id, Email: n.email, Phone: n.phone, Hash: n.hash, EmailConfirmed: n.confirmed && n.email != "", PhoneConfirmed: n.confirmed && n.phone != "",
		AppMetadata: map[string]any{"provider": provider, "providers": []string{provider}}, UserMetadata: facts,
	}, now)
	if err != nil {
		return User{}, err
	}
	if err := saveIdentity(ctx, tx, id, provider, id, facts, now); err != nil {
		return User{}, err
	}
	if err := s.audit(ctx, tx, c, auditUserCreated, id, map[string]any{"provider": provider}); err != nil {
		return User{}, err
	}
	return userByID(ctx, tx, id)
}

// noteProviders lets the account's metadata name all the ways in which it signs in.
func (s *Service) noteProviders(ctx context.Context, tx *db.Tx, userID string) error {
	u, err := userByID(ctx, tx, userID)
	if err != nil {
		return err
	}
	names := []any{}
	seen := map[string]bool{}
	for _, i := range u.Identities {
		if !seen[i.Provider] {
			names = append(names, i.Provider)
			seen[i.Provider] = true
		}
	}
	changes := map[string]any{"providers": names}
	if len(names) > 0 {
		changes["provider"] = names[0]
	}
	return setUser(ctx, tx, userID, s.now(), change{colAppMetadata, merged(u.AppMetadata, changes)})
}

// disown takes away what somebody else may have left in an account whose address nobody had proven: the password,
// identities of providers, second factors, sessions, and what was sent. Its own address and number stay.
func (s *Service) disown(ctx context.Context, tx *db.Tx, userID string) error {
	if err := setUser(ctx, tx, userID, s.now(), change{colPassword, nil}); err != nil {
		return err
	}
	for _, take := range []func(context.Context, db.Querier, string) error{deleteProviderIdentities, deleteFactors, deleteSessions, deleteUnderWay} {
		if err := take(ctx, tx, userID); err != nil {
			return err
		}
	}
	return s.noteProviders(ctx, tx, userID)
}

// identityOf gives the account's identity with a provider, if it has one.
func (u User) identityOf(provider string) (Identity, bool) {
	for _, i := range u.Identities {
		if i.Provider == provider {
			return i, true
		}
	}
	return Identity{}, false
}
