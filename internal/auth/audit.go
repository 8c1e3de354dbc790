package auth

import (
	"context"

	"atelie/internal/activity"
	"atelie/internal/db"
)

// This file defines the actions of the audit log (what happened to accounts), and writes its entries. A new action also belongs in
// activityActions if owners should see it, and in logType (admin_audit.go) unless its group is "user".

// Actions in the audit log. An action that Supabase Auth logs too has the same name here. The stored values must not change, even where
// the Go name is clearer.
const (
	auditSignIn                    auditAction = "login"
	auditSignInRefused             auditAction = "sign_in_refused" // not in Supabase Auth
	auditSignOut                   auditAction = "logout"
	auditTokenRefreshed            auditAction = "token_refreshed"
	auditTokenRevoked              auditAction = "token_revoked" // a replaced refresh token was used again, so its session was ended
	auditPasswordSet               auditAction = "user_updated_password"
	auditSignedUp                  auditAction = "user_signedup" // logged when the account is confirmed, if the sign-up needs a confirmation
	auditUserModified              auditAction = "user_modified" // changed by the service key, by UpdateUser, or by the confirmation of a new address or number
	auditUserDeleted               auditAction = "user_deleted"
	auditUserInvited               auditAction = "user_invited"
	auditLinkGenerated             auditAction = "link_generated" // not in Supabase Auth: GenerateLink, for a sign-up or a change of e-mail address
	auditConfirmationRequested     auditAction = "user_confirmation_requested"
	auditRecoveryRequested         auditAction = "user_recovery_requested" // includes magic links and sign-in codes
	auditReauthenticationRequested auditAction = "user_reauthenticate_requested"
	auditEmailChangeRequested      auditAction = "mail_requested" // not in Supabase Auth: the mails that confirm a change of e-mail address
	auditIdentityLinked            auditAction = "identity_linked"
	auditIdentityUnlinked          auditAction = "identity_unlinked"
	auditSSOProviderChanged        auditAction = "sso_provider_changed" // not in Supabase Auth
	auditSignUpRepeated            auditAction = "user_repeated_signup"
	auditPhoneChangeRequested      auditAction = "sms_requested" // not in Supabase Auth: the code that confirms a change of phone number
	// Second factors, recovery codes and reauthentication.
	auditFactorUpdated           auditAction = "factor_updated"     // changed by the service key
	auditFactorDeleted           auditAction = "factor_deleted"     // deleted by the service key or a command
	auditFactorEnrolled          auditAction = "factor_in_progress" // not verified yet
	auditFactorUnenrolled        auditAction = "factor_unenrolled"
	auditChallengeCreated        auditAction = "challenge_created"
	auditFactorVerified          auditAction = "verification_attempted" // the code was correct
	auditFactorRefused           auditAction = "factor_refused"
	auditRecoveryCodesMade       auditAction = "recovery_codes_created"
	auditRecoveryCodeUsed        auditAction = "recovery_code_used"
	auditRecoveryCodeRefused     auditAction = "recovery_code_refused"
	auditReauthenticated         auditAction = "reauthenticated"
	auditReauthenticationRefused auditAction = "reauthentication_refused"
)

// The actions that the activity log shows to owners (accounts with the role admin), by the log's kinds of entries. They do not include
// actions that are only a step of a sign-in or of a change, such as refreshed tokens, challenges and requests for a confirmation message.
var (
	activitySignIns     = []auditAction{auditSignIn, auditSignOut, auditRecoveryRequested, auditRecoveryCodeUsed}
	activityRefused     = []auditAction{auditSignInRefused, auditFactorRefused, auditRecoveryCodeRefused, auditReauthenticationRefused, auditTokenRevoked}
	activityCredentials = []auditAction{
		auditPasswordSet, auditUserModified, auditSignedUp, auditUserInvited, auditUserDeleted, auditLinkGenerated, auditIdentityLinked, auditIdentityUnlinked,
		auditFactorVerified, auditFactorUnenrolled, auditFactorUpdated, auditFactorDeleted, auditRecoveryCodesMade, auditSSOProviderChanged, auditKeyRotated,
	}
	activityActions = map[activity.Kind][]auditAction{activity.SignIn: activitySignIns, activity.Refused: activityRefused, activity.Key: activityCredentials}
)

// audit writes an entry to the audit log. q should be the transaction of the change, so that the change and the entry are stored
// together or not at all. userID is the account that the entry is about, or "". detail must not contain secrets.
func (s *Service) audit(ctx context.Context, q db.Querier, c client, action auditAction, userID string, detail map[string]any) error {
	text, err := encodeMetadata(detail)
	if err != nil {
		return err
	}
	return insertAudit(ctx, q, action, userID, text, c, s.now())
}
