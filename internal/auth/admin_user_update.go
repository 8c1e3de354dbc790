package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"atelie/internal/db"
)

// AdminUpdateUser handles PUT /auth/v1/admin/users/{user_id}, and requires the service key (the API key with the role service_role). It
// changes the fields that the body contains, immediately and without a mail. Metadata is merged with the stored metadata; the value null
// removes a key. A new password ends the account's sessions. A new password, address or number invalidates pending links and codes. Errors:
//   - user_not_found
//   - email_exists, phone_exists: another account has the address or number.
//   - weak_password: the password is too short or easy to guess.
//   - validation_failed: another field is not valid.
func (s *Service) AdminUpdateUser(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := requireServiceKey(ctx); err != nil {
		return err
	}
	if _, err := userInPath(ctx, s.db, r); err != nil { // refuses an unknown account before the slow password hash is computed
		return err
	}
	var p adminUserParams
	if err := decode(w, r, &p); err != nil {
		return err
	}
	if err := p.validateAndNormalize(); err != nil {
		return err
	}
	bannedUntil, changesBan, err := parseBanDuration(p.BanDuration, s.now())
	if err != nil {
		return err
	}
	var changes []columnChange
	if changesBan {
		changes = append(changes, columnChange{colBannedUntil, bannedUntil})
	}
	if p.Password != nil {
		hash, err := s.validateAndHashPassword(ctx, *p.Password)
		if err != nil {
			return err
		}
		changes = append(changes, columnChange{colPassword, hash})
	}
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if u, err = lockUserInPath(ctx, tx, r); err != nil {
			return err
		}
		err := errors.Join( // an error of any of the four steps rolls back the transaction
			setUser(ctx, tx, u.ID, s.now(), slices.Concat(changes, s.adminColumnChanges(u, p))...),
			s.saveAdminIdentities(ctx, tx, u.ID, p),
			s.revokeAfterUpdate(ctx, tx, u, p),
			s.auditServiceKey(ctx, tx, r, auditUserModified, u.ID, changedFields(p)),
		)
		if err != nil {
			return err
		}
		u, err = userByID(ctx, tx, u.ID)
		return err
	})
	return respondPrivate(w, u, err)
}

// adminColumnChanges returns the changes of columns of auth_users that the request asks for, except the password and the ban.
func (s *Service) adminColumnChanges(u User, p adminUserParams) (list []columnChange) {
	now := s.now()
	userMetadata := u.UserMetadata
	if p.Email != "" {
		list = append(list, columnChange{colEmail, p.Email})
	}
	if p.Phone != "" {
		list = append(list, columnChange{colPhone, p.Phone})
	}
	if p.EmailConfirm && (u.Email != "" || p.Email != "") {
		list = append(list, columnChange{colEmailConfirmed, now})
		userMetadata = mergeMetadata(userMetadata, map[string]any{"email_verified": true})
	}
	if p.PhoneConfirm && (u.Phone != "" || p.Phone != "") {
		list = append(list, columnChange{colPhoneConfirmed, now})
	}
	if p.UserMetadata != nil || p.EmailConfirm {
		list = append(list, columnChange{colUserMetadata, mergeMetadata(userMetadata, p.UserMetadata)})
	}
	if p.AppMetadata != nil {
		list = append(list, columnChange{colAppMetadata, mergeMetadata(u.AppMetadata, p.AppMetadata)})
	}
	return list
}

// revokeAfterUpdate deletes all sessions and the pending links and codes of the account after a new password. After a new e-mail
// address or phone number, or a confirmation of the e-mail address, it deletes only the pending links and codes.
func (s *Service) revokeAfterUpdate(ctx context.Context, tx *db.Tx, u User, p adminUserParams) error {
	switch {
	case p.Password != nil:
		return errors.Join(deleteSessions(ctx, tx, u.ID), deletePending(ctx, tx, u.ID))
	case p.EmailConfirm, p.Email != "" && p.Email != u.Email, p.Phone != "" && p.Phone != u.Phone:
		return deletePending(ctx, tx, u.ID)
	}
	return nil
}

// changedFields returns the names of the changed fields for the audit log, without the values.
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
