package auth

import (
	"context"

	"atelie/internal/activity"
	"atelie/internal/db"
)

// This file defines the actions of the audit log (what happened to accounts), and writes its entries. Add a new action to:
//   - activityActions below, if owners should see it in the activity log (package activity).
//   - logType (admin_audit.go), unless its group in Supabase Auth's format is "user".

// Actions that Supabase Auth logs too, with the same value. The values are stored, so they must not change.
const (
	auditSignIn         auditAction = "login"
	auditSignOut        auditAction = "logout"
	auditTokenRefreshed auditAction = "token_refreshed"
	auditTokenRevoked   auditAction = "token_revoked" // a replaced refresh token was used again, so its session was ended
	auditPasswordSet    auditAction = "user_updated_password"
	// auditSignedUp is logged only when the account is confirmed, if the sign-up needs a confirmation.
	auditSignedUp       auditAction = "user_signedup"
	auditSignUpRepeated auditAction = "user_repeated_signup"
	// auditUserModified is for changes by the service key (the API key with full rights), by UpdateUser (a change of the caller's own
	// account), and by the confirmation of a new address or number.
	auditUserModified              auditAction = "user_modified"
	auditUserDeleted               auditAction = "user_deleted"
	auditUserInvited               auditAction = "user_invited"
	auditConfirmationRequested     auditAction = "user_confirmation_requested"
	auditRecoveryRequested         auditAction = "user_recovery_requested" // includes magic links and sign-in codes
	auditReauthenticationRequested auditAction = "user_reauthenticate_requested"
	auditIdentityUnlinked          auditAction = "identity_unlinked"
	// Second factors.
	auditFactorUpdated    auditAction = "factor_updated"     // changed by the service key
	auditFactorDeleted    auditAction = "factor_deleted"     // deleted by the service key or a command
	auditFactorEnrolled   auditAction = "factor_in_progress" // not verified yet
	auditFactorUnenrolled auditAction = "factor_unenrolled"
	auditChallengeCreated auditAction = "challenge_created"
	auditFactorVerified   auditAction = "verification_attempted" // the code was correct
)

// Actions that Supabase Auth does not log. The values are stored, so they must not change. One more action, auditKeyRotated, is defined in
// signing_keys.go.
const (
	auditSignInRefused auditAction = "sign_in_refused"
	// auditLinkGenerated: a program with the service key has requested a link for a sign-up or a change of e-mail address.
	auditLinkGenerated           auditAction = "link_generated"
	auditEmailChangeRequested    auditAction = "mail_requested" // the mails that confirm a change of e-mail address
	auditPhoneChangeRequested    auditAction = "sms_requested"  // the code that confirms a change of phone number
	auditIdentityLinked          auditAction = "identity_linked"
	auditSSOProviderChanged      auditAction = "sso_provider_changed"
	auditFactorRefused           auditAction = "factor_refused"
	auditRecoveryCodesMade       auditAction = "recovery_codes_created"
	auditRecoveryCodeUsed        auditAction = "recovery_code_used"
	auditRecoveryCodeRefused     auditAction = "recovery_code_refused"
	auditReauthenticated         auditAction = "reauthenticated"
	auditReauthenticationRefused auditAction = "reauthentication_refused"
)

// The actions that the activity log shows to owners (accounts with the role admin), grouped by kind. Actions that are only a step of a
// sign-in or of a change are left out, such as refreshed tokens, challenges and requests for a confirmation message.
var activityActions = map[activity.Kind][]auditAction{
	activity.KindSignIn: {auditSignIn, auditSignOut, auditRecoveryRequested, auditRecoveryCodeUsed},
	activity.KindRefused: {
		auditSignInRefused, auditFactorRefused, auditRecoveryCodeRefused, auditReauthenticationRefused, auditTokenRevoked,
	},
	activity.KindSecurity: {
		auditPasswordSet, auditUserModified, auditSignedUp, auditUserInvited, auditUserDeleted, auditLinkGenerated, auditIdentityLinked, auditIdentityUnlinked,
		auditFactorVerified, auditFactorUnenrolled, auditFactorUpdated, auditFactorDeleted, auditRecoveryCodesMade, auditSSOProviderChanged, auditKeyRotated,
	},
}

// audit writes an entry to the audit log. q should be the transaction of the change, so that the change and the entry are stored
// together or not at all. userID is the account that the entry is about, or "". detail must not contain secrets.
func (s *Service) audit(ctx context.Context, q db.Querier, c clientInfo, action auditAction, userID string, detail map[string]any) error {
	text, err := encodeMetadata(detail)
	if err != nil {
		return err
	}
	return insertAudit(ctx, q, action, userID, text, c, s.now())
}
