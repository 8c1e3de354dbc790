package db

import (
	"context"

	"github.com/google/uuid"
)

type actorKey struct{}

// WithActor returns a context whose transactions (WithTx) name the account in what triggers write to row_history and activity. It
// returns ctx itself when account is not the id of an account, as with API keys.
func WithActor(ctx context.Context, account string) context.Context {
	id, err := uuid.Parse(account)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, actorKey{}, id.String())
}

// actorOf returns the id of the account that ctx names, which contains only digits, letters and hyphens; or "".
func actorOf(ctx context.Context) string {
	actor, _ := ctx.Value(actorKey{}).(string)
	return actor
}
