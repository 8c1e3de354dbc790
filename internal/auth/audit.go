package auth

import (
	"context"

	"atelie/internal/activity"
	"atelie/internal/db"
)

// Actions in the audit log, with Supabase Auth's names where it has them. A sign-up (user_signedup) that needs a confirmation
// is logged when the account is confirmed.
const (
	auditSignIn                    auditAction = "login"
	auditSignInRefused             auditAction = "sign_in_refused" // not in Supabase Auth
	auditSignOut                   auditAction = "logout"
	auditTokenRefreshed            auditAction = "token_refreshed"
	auditTokenRevoked              auditAction = "token_revoked" // a replaced refresh token was used again, which ended its session
	auditPasswordSet               auditAction = "user_updated_password"
	auditSignedUp                  auditAction = "user_signedup"
	auditUserModified              auditAction = "user_modified"
	auditUserDeleted               auditAction = "user_deleted"
	auditUserInvited               auditAction = "user_invited"
	auditLinkGenerated             auditAction = "link_generated" // not in Supabase Auth: a link for a sign-up or a change of e-mail address
	auditFactorUpdated             auditAction = "factor_updated"
	auditFactorDeleted             auditAction = "factor_deleted"
	auditConfirmationRequested     auditAction = "user_confirmation_requested"
	auditRecoveryRequested         auditAction = "user_recovery_requested" // includes magic links and sign-in codes
	auditReauthenticationRequested auditAction = "user_reauthenticate_requested"
	auditEmailChangeRequested      auditAction = "mail_requested" // not in Supabase Auth: the mails that confirm a change of e-mail address
	auditLinked                    auditAction = "identity_linked"
	auditUnlinked                  auditAction = "identity_unlinked"
	auditSSOProvider               auditAction = "sso_provider_changed" // not in Supabase Auth
	// Repeated sign-ups and text messages.
	auditSignUpRepeated auditAction = "user_repeated_signup"
	auditSMSSent        auditAction = "sms_requested" // not in Supabase Auth: the code that confirms a change of phone number
	// Second factors.
	auditFactorEnrolled          auditAction = "factor_in_progress"
	auditFactorUnenrolled        auditAction = "factor_unenrolled"
	auditChallenge               auditAction = "challenge_created"
	auditFactorVerified          auditAction = "verification_attempted"
	auditFactorRefused           auditAction = "factor_refused"
	auditRecoveryMade            auditAction = "recovery_codes_created"
	auditRecoveryUsed            auditAction = "recovery_code_used"
	auditRecoveryRefused         auditAction = "recovery_code_refused"
	auditReauthenticated         auditAction = "reauthenticated"
	auditReauthenticationRefused auditAction = "reauthentication_refused"
)

// The actions that the owner sees as activity. Left out are steps of a sign-in and of a change: tokens that were refreshed,
// challenges, factors that are not verified, requests for mails and text messages that confirm, and reauthentication that succeeded.
var (
	activitySignIns = []auditAction{auditSignIn, auditSignOut, auditRecoveryRequested, auditRecoveryUsed}
	activityRefused = []auditAction{auditSignInRefused, auditFactorRefused, auditRecoveryRefused, auditReauthenticationRefused, auditTokenRevoked}
	activityKeys    = []auditAction{
		auditPasswordSet, auditUserModified, auditSignedUp, auditUserInvited, auditUserDeleted, auditLinkGenerated, auditLinked, auditUnlinked,
		auditFactorVerified, auditFactorUnenrolled, auditFactorUpdated, auditFactorDeleted, auditRecoveryMade, auditSSOProvider, auditKeyRotated,
	}
	activityActions = map[activity.Kind][]auditAction{activity.SignIn: activitySignIns, activity.Refused: activityRefused, activity.Key: activityKeys}
)

// audit writes a security event to the audit log. q should be the transaction of the change, so that the change and the entry
// are stored together or not at all. userID may be "". detail must not contain secrets.
func (s *Service) audit(ctx context.Context, q db.Querier, c client, action auditAction, userID string, detail map[string]any) error {
	text, err := encodeMetadata(detail)
	if err != nil {
		return err
	}
	return insertAudit(ctx, q, action, userID, text, c, s.now())
}
