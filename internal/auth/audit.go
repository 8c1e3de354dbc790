package auth

import (
	"context"

	"atelie/internal/db"
)

// auditAction names what happened to an account, in the audit log.
type auditAction string

// The events that are kept. Owners add theirs beside the endpoint that causes them.
const (
	auditSignIn         auditAction = "signed_in"
	auditSignInRefused  auditAction = "sign_in_refused"
	auditSignOut        auditAction = "signed_out"
	auditTokenReuse     auditAction = "refresh_token_reused"
	auditPasswordSet    auditAction = "password_changed"
	auditUserCreated    auditAction = "user_created"
	auditUserUpdated    auditAction = "user_updated"
	auditUserDeleted    auditAction = "user_deleted"
	auditUserInvited    auditAction = "user_invited"
	auditLinkGenerated  auditAction = "link_generated"
	auditFactorUpdated  auditAction = "factor_updated"
	auditFactorDeleted  auditAction = "factor_deleted"
	auditMailSent       auditAction = "mail_requested"
	auditEmailConfirmed auditAction = "email_confirmed"
	auditEmailChanged   auditAction = "email_changed"
	auditLinked         auditAction = "identity_linked"
	auditUnlinked       auditAction = "identity_unlinked"
	auditSSOProvider    auditAction = "sso_provider_changed"
)

// audit keeps a security event with the change that it tells of, in one transaction. detail must hold no secret.
func (s *Service) audit(ctx context.Context, q db.Querier, c client, action auditAction, userID string, detail map[string]any) error {
	text, err := metadata(detail)
	if err != nil {
		return err
	}
	return insertAudit(ctx, q, action, userID, text, c, s.now())
}
