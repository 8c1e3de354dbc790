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
	var params adminUserParams
	if err := decode(w, r, &params); err != nil {
		return err
	}
	if err := params.validateAndNormalize(); err != nil {
		return err
	}
	bannedUntil, changesBan, err := parseBanDuration(params.BanDuration, s.now())
	if err != nil {
		return err
	}
	var changes []columnChange
	if changesBan {
		changes = append(changes, columnChange{colBannedUntil, bannedUntil})
	}
	if params.Password != nil {
		passwordHash, err := s.validateAndHashPassword(ctx, *params.Password)
		if err != nil {
			return err
		}
		changes = append(changes, columnChange{colPassword, passwordHash})
	}
	u, err := inTx(ctx, s.db.WithTx, func(tx *db.Tx) (User, error) {
		u, err := lockUserInPath(ctx, tx, r)
		if err != nil {
			return User{}, err
		}
		err = errors.Join( // an error of any of the four steps rolls back the transaction
			setUser(ctx, tx, u.ID, s.now(), slices.Concat(changes, s.adminColumnChanges(u, params))...),
			s.saveAdminIdentities(ctx, tx, u.ID, params),
			s.revokeAfterUpdate(ctx, tx, u, params),
			s.auditServiceKey(ctx, tx, r, auditUserModified, u.ID, changedFields(params)),
		)
		if err != nil {
			return User{}, err
		}
		return userByID(ctx, tx, u.ID)
	})
	return respondPrivate(w, u, err)
}

// adminColumnChanges returns the changes of columns of auth_users that the request asks for, except the password and the ban.
func (s *Service) adminColumnChanges(u User, params adminUserParams) (list []columnChange) {
	now := s.now()
	userMetadata := u.UserMetadata
	if params.Email != "" {
		list = append(list, columnChange{colEmail, params.Email})
	}
	if params.Phone != "" {
		list = append(list, columnChange{colPhone, params.Phone})
	}
	if params.EmailConfirm && (u.Email != "" || params.Email != "") {
		list = append(list, columnChange{colEmailConfirmed, now})
		userMetadata = mergeMetadata(userMetadata, map[string]any{"email_verified": true})
	}
	if params.PhoneConfirm && (u.Phone != "" || params.Phone != "") {
		list = append(list, columnChange{colPhoneConfirmed, now})
	}
	if params.UserMetadata != nil || params.EmailConfirm {
		list = append(list, columnChange{colUserMetadata, mergeMetadata(userMetadata, params.UserMetadata)})
	}
	if params.AppMetadata != nil {
		list = append(list, columnChange{colAppMetadata, mergeMetadata(u.AppMetadata, params.AppMetadata)})
	}
	return list
}

// revokeAfterUpdate deletes all sessions and the pending links and codes of the account after a new password. After a new e-mail
// address or phone number, or a confirmation of the e-mail address, it deletes only the pending links and codes.
func (s *Service) revokeAfterUpdate(ctx context.Context, tx *db.Tx, u User, params adminUserParams) error {
	switch {
	case params.Password != nil:
		return errors.Join(deleteSessions(ctx, tx, u.ID), deletePending(ctx, tx, u.ID))
	case params.EmailConfirm, params.Email != "" && params.Email != u.Email, params.Phone != "" && params.Phone != u.Phone:
		return deletePending(ctx, tx, u.ID)
	}
	return nil
}

// changedFields returns the names of the changed fields for the audit log, without the values.
func changedFields(params adminUserParams) map[string]any {
	names := []any{}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"email", params.Email != ""}, {"phone", params.Phone != ""}, {"password", params.Password != nil}, {"email_confirm", params.EmailConfirm},
		{"phone_confirm", params.PhoneConfirm}, {"user_metadata", params.UserMetadata != nil}, {"app_metadata", params.AppMetadata != nil}, {"ban", params.BanDuration != ""},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return map[string]any{"changed": names}
}
