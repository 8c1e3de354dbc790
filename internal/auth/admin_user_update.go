package auth

import (
	"context"
	"net/http"

	"atelie/internal/db"
)

// AdminUpdateUser is PUT /auth/v1/admin/users/{user_id}, for the service key alone: only what is named changes, at once
// and without a mail. Metadata is merged, null takes a name away. A new password ends all sessions of the account; a new
// address voids the links and codes that went to the old one. Errors: user_not_found, email_exists, phone_exists,
// weak_password, validation_failed.
func (s *Service) AdminUpdateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	if _, err := userInPath(ctx, s.db, r); err != nil { // before the costly hash
		return err
	}
	var p adminUserParams
	if err := decode(w, r, &p); err != nil {
		return err
	}
	if err := p.normalize(); err != nil {
		return err
	}
	bannedUntil, banGiven, err := banEnd(p.BanDuration, s.now())
	if err != nil {
		return err
	}
	var changes []change
	if banGiven {
		changes = append(changes, change{colBannedUntil, bannedUntil})
	}
	if p.Password != nil {
		hash, err := s.newHash(ctx, *p.Password)
		if err != nil {
			return err
		}
		changes = append(changes, change{colPassword, hash})
	}
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if u, err = lockUserInPath(ctx, tx, r); err != nil {
			return err
		}
		if err := setUser(ctx, tx, u.ID, s.now(), append(changes[:len(changes):len(changes)], s.adminChanges(u, p)...)...); err != nil {
			return err
		}
		if err := s.adminIdentities(ctx, tx, u.ID, p); err != nil {
			return err
		}
		if err := s.voidAfter(ctx, tx, u, p); err != nil {
			return err
		}
		if err := s.auditByKey(ctx, tx, r, auditUserUpdated, u.ID, changedFields(p)); err != nil {
			return err
		}
		u, err = userByID(ctx, tx, u.ID)
		return err
	})
	if err != nil {
		return err
	}
	return answerUser(w, u)
}

// adminChanges are the columns that the request names, apart from password and ban.
func (s *Service) adminChanges(u User, p adminUserParams) (list []change) {
	now := s.now()
	own := u.UserMetadata
	if p.Email != "" {
		list = append(list, change{colEmail, p.Email})
	}
	if p.Phone != "" {
		list = append(list, change{colPhone, p.Phone})
	}
	if p.EmailConfirm && (u.Email != "" || p.Email != "") {
		list = append(list, change{colEmailConfirmed, now})
		own = merged(own, map[string]any{"email_verified": true})
	}
	if p.PhoneConfirm && (u.Phone != "" || p.Phone != "") {
		list = append(list, change{colPhoneConfirmed, now})
	}
	if p.UserMetadata != nil || p.EmailConfirm {
		list = append(list, change{colUserMetadata, merged(own, p.UserMetadata)})
	}
	if p.AppMetadata != nil {
		list = append(list, change{colAppMetadata, merged(u.AppMetadata, p.AppMetadata)})
	}
	return list
}

// adminIdentities gives the new addresses to the account's own identities.
func (s *Service) adminIdentities(ctx context.Context, tx *db.Tx, userID string, p adminUserParams) error {
	now := s.now()
	if p.Email != "" {
		if err := saveIdentity(ctx, tx, userID, "email", userID, identityData(userID, "email", p.Email, p.EmailConfirm), now); err != nil {
			return err
		}
	}
	if p.Phone != "" {
		return saveIdentity(ctx, tx, userID, "phone", userID, identityData(userID, "phone", p.Phone, p.PhoneConfirm), now)
	}
	return nil
}

// voidAfter takes away what must not outlive the change: sessions that the old password opened, links and codes that
// were sent to an old address or before somebody thought the account unsafe.
func (s *Service) voidAfter(ctx context.Context, tx *db.Tx, u User, p adminUserParams) error {
	if p.Password != nil {
		if err := deleteSessions(ctx, tx, u.ID); err != nil {
			return err
		}
	}
	switch {
	case p.Password != nil, p.EmailConfirm, p.Email != "" && p.Email != u.Email, p.Phone != "" && p.Phone != u.Phone:
		return deleteUnderWay(ctx, tx, u.ID)
	}
	return nil
}

// changedFields names, for the audit log, what was changed, without the values.
func changedFields(p adminUserParams) map[string]any {
	names := []any{}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"email", p.Email != ""}, {"phone", p.Phone != ""}, {"password", p.Password != nil}, {"email_confirm", p.EmailConfirm},
		{"phone_confirm", p.PhoneConfirm}, {"user_metadata", p.UserMetadata != nil}, {"app_metadata", p.AppMetadata != nil}, {"ban", p.BanDuration != ""},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return map[string]any{"changed": names}
}
